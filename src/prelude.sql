/* The install script of leaderboard, joined from the parts below src by "make sql"; edit those, not this file. */
\echo Use "CREATE EXTENSION leaderboard" to load this file. \quit

CREATE SCHEMA lb;
COMMENT ON SCHEMA lb IS
'The tables and inner functions of the extension leaderboard; applications call the lb_ functions instead.';
