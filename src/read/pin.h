/*-------------------------------------------------------------------------
 *
 * pin.h
 *	  Answers as they were at an earlier version.
 *
 *-------------------------------------------------------------------------
 */
#ifndef LB_PIN_H
#define LB_PIN_H

#include "leaderboard.h"

#include "projection/standing.h"
#include "read/answer.h"

extern void lb_pin_round(LbReading *reading);
extern void lb_pin_check(LbReading *reading, bool found);
extern bool lb_pin_standing(LbReading *reading, Datum member,
							LbStanding *standing);

#endif							/* LB_PIN_H */
