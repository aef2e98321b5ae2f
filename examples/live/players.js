// Players for the example: one in a while somebody of the best 40 finishes a game.
'use strict';
const { Client } = require('pg');

const board = process.env.BOARD || 'weekly';
const counter = process.env.COUNTER || 'points';
const every = Number(process.env.EVERY || 700);

async function main() {
  const client = new Client();
  await client.connect();
  for (let game = 0; ; game++) {
    const { rows } = await client.query('SELECT member FROM lb_page($1, 1, 40)', [board]);
    const { member } = rows[Math.floor(Math.random() * rows.length)];
    await client.query('SELECT lb_submit($1, $2, $3, key => $4)',
      [counter, member, 20 + Math.floor(Math.random() ** 3 * 900), `player/${process.pid}/${Date.now()}/${game}`]);
    await new Promise((resolve) => setTimeout(resolve, every * (0.4 + Math.random() * 1.2)));
  }
}
main().catch((e) => { console.error(e.message); process.exit(1); });
