import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';

/**
 * A server process that answers everything except system info in a hostile way. It prints its address. A line of input selects the
 * way; the way `well` gives correct answers.
 */
const mb = 2 ** 20;
const ways: Readonly<Record<string, (response: ServerResponse) => void>> = {
  values: (response) => send(response, ['[', '{},'.repeat(mb / 3), '{}]'], 60),
  'values-gzip': (response) => sendGzip(response, 'values-gzip'),
  nesting: (response) => response.end('['.repeat(100_000)),
  'nesting-closed': (response) => response.end('['.repeat(100_000) + ']'.repeat(100_000)),
  endless: (response) => send(response, ['[', '{"id":"a","name":"n"},'.repeat(50_000), '{}]'], 1000),
  string: (response) => send(response, ['["', 'x'.repeat(mb), '"]'], 300),
  keys: (response) => response.end(manyKeys),
  'keys-gzip': (response) => sendGzip(response, 'keys-gzip'),
  bomb: (response) => sendGzip(response, 'bomb'),
  'bomb-of-rows': (response) => sendGzip(response, 'bomb-of-rows'),
};
const manyKeys = `{${Array.from({ length: 1_000_000 }, (_, index) => `"${index.toString(36)}":1`).join(',')}}`;
const zipped: Readonly<Record<string, Buffer>> = {
  'values-gzip': gzipSync(`[${'{},'.repeat(20 * mb)}{}]`),
  'keys-gzip': gzipSync(manyKeys),
  bomb: gzipSync(Buffer.alloc(1000 * mb, ' ')),
  'bomb-of-rows': gzipSync(Buffer.alloc(400 * mb, '{"id":"a","name":"n","group":"g"},')),
};
let way = 'well';
let asked = 0;
let isDenied = false;

const server = createServer((request, response) => {
  const path = (request.url ?? '').replace(/^\/api\/\d+\//, '').replace(/\?.*/, '');
  response.on('error', () => undefined).setHeader('content-type', 'application/json');
  if (path === 'system/info') response.end('{"system":{"rundeck":{"version":"5.0.0","apiversion":47}}}');
  // Every second list of projects is correct, because other requests need the names of projects.
  else if (path === 'projects' && (way === 'well' || (isDenied = !isDenied)))
    response.end('[{"name":"pay"},{"name":"shop"}]');
  else if (way === 'well') response.writeHead(404).end('{}');
  else {
    asked += 1;
    ways[way]?.(response);
  }
});
server.listen(0, '127.0.0.1', () => {
  // This cast is safe: the address of a TCP server has a port.
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
for await (const line of process.stdin) {
  process.stdout.write(`asked ${asked}\n`);
  asked = 0;
  way = String(line).trim();
}
process.exit();

type Pieces = readonly [begin: string, middle: string, end: string];

function send(response: ServerResponse, [begin, middle, end]: Pieces, times: number): void {
  function* parts(): Generator<string> {
    yield begin;
    for (let count = 0; count < times; count += 1) yield middle;
    yield end;
  }
  Readable.from(parts())
    .on('error', () => undefined)
    .pipe(response);
}

function sendGzip(response: ServerResponse, name: string): void {
  response.setHeader('content-encoding', 'gzip');
  response.end(zipped[name]);
}
