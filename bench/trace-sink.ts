import { createServer, type ServerResponse } from 'node:http';
import { parentPort } from 'node:worker_threads';
import { gunzipSync } from 'node:zlib';
import type { SinkCount, SinkWord } from './sink.ts';

const slowMs = 200;

/** A thread with a collector that counts all spans, and the traces of runs. */
const ids = new Set<string>();
let spans = 0;
let state: SinkWord = 'up';

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    setTimeout(() => answer(response, Buffer.concat(chunks)), state === 'slow' ? slowMs : 0);
  });
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object' && address !== null) parentPort?.postMessage(`http://127.0.0.1:${address.port}`);
});
parentPort?.on('message', (word: SinkWord) => {
  if (word !== 'count') state = word;
  parentPort?.postMessage({ traces: ids.size, spans } satisfies SinkCount);
});

function answer(response: ServerResponse, body: Buffer): void {
  const isDown = state === 'down';
  if (!isDown) takeTraces(gunzipSync(body));
  response.writeHead(isDown ? 503 : 200, { 'content-type': 'application/x-protobuf' }).end();
}

const resource = 1;
const scopeSpans = 2;
const span = 2;

function takeTraces(bytes: Buffer): void {
  for (const { bytes: resourceSpans } of readFields(bytes)) {
    for (const { number, bytes: part } of readFields(resourceSpans)) {
      if (number === resource) ids.add(readRunId(part));
      if (number !== scopeSpans) continue;
      for (const { number: inScope } of readFields(part)) if (inScope === span) spans += 1;
    }
  }
}

/** Reads fields: number, length and bytes. */
function* readFields(bytes: Buffer): Generator<{ readonly number: number; readonly bytes: Buffer }> {
  for (let at = 0; at < bytes.length; ) {
    const number = (bytes[at++] ?? 0) >> 3;
    let size = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++] ?? 0;
      size += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) break;
    }
    yield { number, bytes: bytes.subarray(at, at + size) };
    at += size;
  }
}

const runId = Buffer.from('cicd.pipeline.run.id');

/** Reads the id of a run, which follows the name of its attribute. */
function readRunId(bytes: Buffer): string {
  const at = bytes.indexOf(runId) + runId.length;
  return bytes.toString('latin1', at + 4, at + 4 + (bytes[at + 3] ?? 0));
}
