// The scene of test/tap/drivers.pl, with node-postgres.
'use strict';
const { Client } = require('pg');
const env = process.env;
const pooled = env.LB_POOLED === '1';
const board = env.LB_BOARD;
const settings = { host: env.LB_HOST, port: +env.LB_PORT, database: env.LB_DATABASE,
  user: env.LB_USER, password: env.LB_PASSWORD };
const say = (name, value) => console.log(`${name}=${value}`);
const kind = (value) => value === null ? 'null' : Array.isArray(value) ? 'array' :
  value instanceof Date ? 'Date' : typeof value;

// Behind a pooler a role is of a transaction, else of the session.
async function work(client, task) {
  if (!pooled) return task();
  await client.query('BEGIN');
  await client.query('SET LOCAL ROLE game_app');
  try {
    return await task();
  } finally {
    await client.query('COMMIT');
  }
}
async function failure(task) {
  try { await task(); } catch (e) { return `${e.code} ${e.hint ? 'hint' : 'no hint'}`; }
  return 'no error';
}
const verdict = (row) => row.reason ? `${row.status} ${row.reason}` : row.status;

async function main() {
  const client = new Client(settings);
  await client.connect();
  const query = (text, values) => work(client, () => client.query(text, values));

  say('without the role', await failure(() => client.query('SELECT * FROM lb_rank($1, $2)', [board, 'ann'])));
  if (!pooled) await client.query('SET ROLE game_app');
  say('not granted', await failure(() => query('SELECT lb_backfill($1, $2, $3, $4)', [board, ['ann'], ['1'], ['k']])));
  say('no such board', await failure(() => query('SELECT * FROM lb_rank($1, $2)', ['nowhere', 'ann'])));

  // JavaScript's own numbers end at 2^53: BigInt, or strings of digits.
  const batch = [board, ['ann', 'bob "the" {b}, \\', 'cé', 'dee', 'eve'],
    [9007199254740993n, '9223372036854775807', -9223372036854775808n, null, 0],
    ['k1', 'k2', 'k3', 'k4', 'k5'], [null, new Date(Date.now() - 3600e3), null, null, null]];
  const submit = 'SELECT * FROM lb_submit_batch($1, $2, $3, $4, $5)';
  const first = (await query(submit, batch)).rows;
  const again = (await query(submit, batch)).rows;
  say('batch', first.map(verdict));
  say('again', again.map(verdict));
  say('same ids', first.every((row, i) => row.event_id === again[i].event_id));
  const events = [{ counter: board, member: 'fay', delta: '9007199254740995', key: 'k6' }, { counter: board, bad: 1 }];
  say('json', (await query('SELECT * FROM lb_submit_json($1)', [JSON.stringify(events)])).rows.map(verdict));

  await client.query('BEGIN');
  await client.query('SET LOCAL ROLE game_app');
  await client.query("SELECT lb_submit($1, 'gus', 1, key => 'k7')", [board]);
  await client.query('ROLLBACK');
  say('after a rollback', verdict((await query("SELECT * FROM lb_submit($1, 'gus', $2, key => 'k7')", [board, 3])).rows[0]));

  const rank = async (member) => (await query('SELECT * FROM lb_rank($1, $2)', [board, member])).rows[0];
  for (const end = Date.now() + 20000; (await rank('gus')).population !== '6' && Date.now() < end;)
    await new Promise((resolve) => setTimeout(resolve, 50));

  const ann = await rank('ann');
  say('rank', [ann.rank, ann.value, ann.kind, ann.population, ann.stale]);
  say('types', [ann.rank, ann.percentile_low, ann.stale, ann.as_of].map(kind));
  const top = (await query('SELECT * FROM lb_top($1, n => $2)', [board, 10])).rows;
  say('top', top.map((row) => `${row.rank} ${row.member} ${row.value}`).join(';'));
  say('ranks', (await query('SELECT * FROM lb_ranks($1, $2)', [board, ['fay', 'nobody', 'ann']])).rows
    .map((row) => row.rank === null ? row.kind : row.rank));
  const whole = (await query('SELECT r FROM lb_rank($1, $2) AS r', [board, 'ann'])).rows[0].r;
  say('composite', `${kind(whole)} ${String(whole).slice(0, 12)}`);
  const array = (await query('SELECT array_agg(value ORDER BY place) AS v FROM lb_top($1)', [board])).rows[0].v;
  say('array', `${kind(array)} of ${kind(array[0])} ${array[0]}`);

  if (env.LB_NAMED === '1') {
    const seen = new Set();
    for (let i = 0; i < 12; i++)
      seen.add((await query({ name: 'rank', text: 'SELECT value FROM lb_rank($1, $2)', values: [board, 'ann'] })).rows[0].value);
    say('prepared', [...seen]);
  }
  if (!pooled) {
    const { channel } = (await query('SELECT channel FROM lb_version($1)', [board])).rows[0];
    const heard = new Promise((resolve, reject) => {
      client.on('notification', (message) => resolve(message));
      setTimeout(() => reject(new Error('no notification')), 20000).unref();
    });
    await client.query(`LISTEN ${client.escapeIdentifier(channel)}`);
    await query("SELECT lb_submit($1, 'gus', 1, key => 'k8')", [board]);
    const message = await heard;
    say('notified', message.channel === channel && JSON.parse(message.payload).board === board);
  }
  await client.end();
}
main().catch((e) => { console.error(e); process.exit(1); });
