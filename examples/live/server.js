// A live board: reads it, hears of its rounds, and tells the browsers.
//
// Environment: PGHOST, PGPORT, PGDATABASE, PGUSER as usual, PORT (8080).
'use strict';
const crypto = require('crypto');
const http = require('http');
const fs = require('fs');
const path = require('path');
const { Client, Pool } = require('pg');

const board = process.env.BOARD || 'weekly';
const counter = process.env.COUNTER || 'points';
const port = Number(process.env.PORT || 8080);
const pool = new Pool({ max: 4 });
pool.on('error', (e) => console.error(e.message));
const listeners = new Set();

// One connection listens for all browsers.  When it is lost, rounds may have
// been missed: on the next one everybody looks again.
async function listen() {
  const client = new Client();
  client.on('error', (e) => console.error(e.message));
  client.once('end', () => setTimeout(listen, 1000));
  try {
    await client.connect();
    const { channel } = (await client.query('SELECT channel FROM lb_version($1)', [board])).rows[0];
    client.on('notification', (message) => tell(JSON.parse(message.payload).version));
    await client.query(`LISTEN ${client.escapeIdentifier(channel)}`);
    tell(null);
  } catch (e) {
    console.error(e.message);
    client.end().catch(() => {});
  }
}
function tell(version) {
  for (const response of listeners) response.write(`data: ${version}\n\n`);
}

// The page from place 1 on, and the viewer's own line, from one snapshot.  What
// the viewer has just sent is in both, counted or not.  rows is null where there
// is nothing newer.
async function page(query) {
  const viewer = query.get('viewer') || null;
  const { rows } = await pool.query(`SELECT p AS page, m.rank, m.value, m.kind
    FROM lb_page_json($1, 1, 15, viewer => $2, newer_than => $3) AS p
    LEFT JOIN lb_rank($1, coalesce($2, '-'), viewer => $2) AS m ON $2 IS NOT NULL`,
  [board, viewer, query.get('newer_than') || null]);
  const { page: answer, rank, value, kind } = rows[0];
  return { ...answer, viewer: viewer && { member: viewer, rank, value, kind } };
}

// The browser names the game, so that a repeated request counts once; what a
// game is worth is drawn from its name.
async function play({ member, key }) {
  const points = 50 + crypto.createHash('sha256').update(String(key)).digest().readUInt32BE() % 500;
  const { rows } = await pool.query('SELECT status, reason FROM lb_submit($1, $2, $3, key => $4)',
    [counter, member, points, `live/${key}`]);
  return rows[0];
}

async function body(request) {
  let text = '';
  for await (const piece of request) if ((text += piece).length > 1000) throw new Error('too long');
  return JSON.parse(text);
}

http.createServer(async (request, response) => {
  const url = new URL(request.url, 'http://localhost');
  const json = (value) => response.writeHead(200, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' })
    .end(JSON.stringify(value));
  try {
    if (url.pathname === '/') {
      response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' })
        .end(fs.readFileSync(path.join(__dirname, 'index.html')));
    } else if (url.pathname === '/page') {
      json(await page(url.searchParams));
    } else if (url.pathname === '/play' && request.method === 'POST') {
      json(await play(await body(request)));
    } else if (url.pathname === '/events') {
      response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' }).write('retry: 1000\n\n');
      listeners.add(response);
      request.on('close', () => listeners.delete(response));
    } else {
      response.writeHead(404).end();
    }
  } catch (e) {
    console.error(e.message);
    response.writeHead(500, { 'Content-Type': 'application/json' }).end(JSON.stringify({ error: e.message }));
  }
}).listen(port, '127.0.0.1', () => console.log(`http://127.0.0.1:${port}/`));
listen();
