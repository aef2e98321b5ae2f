/* The pages of every ranking's tree; README.md publishes what is in them. */
CREATE TABLE lb.page (
	counter_id bigint NOT NULL,
	ranking_id bigint NOT NULL,
	page_id bigint NOT NULL,
	body bytea NOT NULL,
	PRIMARY KEY (counter_id, ranking_id, page_id)
);
ALTER TABLE lb.page ALTER COLUMN body SET STORAGE PLAIN;
COMMENT ON TABLE lb.page IS
'The order of every ranking: the pages of its counted tree. A page is written once and never changed; lb.version names the root of each version.';
