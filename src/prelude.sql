/* The install script of leaderboard, joined from src/.../*.sql by `make sql`; edit the parts, not this file. */
\echo Use "CREATE EXTENSION leaderboard" to load this file. \quit
