-- The extension installs, says its version, and leaves nothing behind.
CREATE EXTENSION leaderboard;
SELECT extversion FROM pg_catalog.pg_extension WHERE extname = 'leaderboard';
DROP EXTENSION leaderboard;
SELECT nspname FROM pg_catalog.pg_namespace WHERE nspname = 'lb';
SELECT proname FROM pg_catalog.pg_proc WHERE proname LIKE 'lb\_%';
