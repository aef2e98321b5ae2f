/*-------------------------------------------------------------------------
 *
 * label.h
 *	  What people call a window.
 *
 *-------------------------------------------------------------------------
 */
#ifndef LB_LABEL_H
#define LB_LABEL_H

#include "leaderboard.h"

#include "projection/window.h"

extern char *lb_window_label(const LbBoard *board, LbWindow window);

#endif							/* LB_LABEL_H */
