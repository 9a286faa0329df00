import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSqliteState } from '../../../src/state/sqlite.ts';
import { isAll } from '../../support/all.ts';
import { type Child, startChild } from '../../support/child.ts';
import { makeMemoryFolder } from '../../support/memory-folder.ts';
import { splitTraces } from './made-traces.ts';
import { type Answer, accept, type Sink, say, startSink } from './sink.ts';

/** `TEST_ALL=true` plays more kills. */
const kills = isAll ? 20 : 8;
const executionsPerRun = 200;
const executions = (kills + 1) * executionsPerRun;
const poisoned = [37, 1234];
const script = fileURLToPath(new URL('sending-process.ts', import.meta.url));

let dir: string;
let sink: Sink | undefined;
let child: Child | undefined;

beforeEach(() => {
  dir = makeMemoryFolder('automation-exporter-kills-');
});
afterEach(async () => {
  child?.kill('SIGKILL');
  await child?.ended;
  await sink?.stop();
  rmSync(dir, { recursive: true, force: true });
});

describe('tracing/sender across kills', () => {
  it('delivers every trace at least once despite kills', async () => {
    const arrived = new Map<number, Set<string>>();
    const happened: Record<string, number> = {};
    let repeats = 0;
    let untilKill = 0;
    let killedAtWork = 0;
    const reasons = Object.entries(answers);

    sink = await startSink((response, request, index) => {
      const traces = splitTraces(request.body);
      const ids = traces.map(toExecution);
      const [name, { answer, isTaken }] = ids.some((id) => poisoned.includes(id))
        ? ['poisoned', { answer: say(400, 'bad span'), isTaken: false }]
        : (reasons[index % reasons.length] ?? ['accepted', accepted]);
      happened[name] = (happened[name] ?? 0) + 1;
      for (const [position, id] of isTaken ? ids.entries() : []) {
        const known = arrived.get(id) ?? new Set();
        if (known.size > 0) repeats += 1;
        arrived.set(id, known.add(traces[position]?.toString('hex') ?? ''));
      }
      untilKill -= 1;
      // Some kills come before the response, and some while it is being sent.
      if (untilKill === 0 && index % 2 === 0) child?.kill('SIGKILL');
      answer(response, request, index);
      if (untilKill === 0) child?.kill('SIGKILL');
    });

    for (let round = 1; round <= kills; round++) {
      untilKill = 1 + ((round * 7) % 11);
      child = startChild(process.execPath, [script, dir, sink.url, String(round * executionsPerRun)]);
      // Kills an idle process, and every tenth process at its start.
      await child.waitFor(round % 10 === 0 ? /started/ : /all delivered/).catch(() => {});
      child.kill('SIGKILL');
      expect(await child.ended).toEqual({ code: null, signal: 'SIGKILL' });
      if (untilKill <= 0) killedAtWork += 1;
    }
    untilKill = -1;
    child = startChild(process.execPath, [script, dir, sink.url, String(executions)]);
    await child.waitFor(/all delivered/, 40_000);
    child.kill('SIGKILL');
    await child.ended;

    const missing = Array.from({ length: executions }, (_, index) => index + 1).filter((id) => !arrived.has(id));
    expect(missing).toEqual(poisoned);
    expect([...arrived].filter(([, bytes]) => bytes.size !== 1).map(([id]) => id)).toEqual([]);
    // Without kills during work, the test would prove nothing.
    expect(killedAtWork).toBeGreaterThan(0.75 * kills);
    expect(repeats).toBeGreaterThan(0.5 * kills);
    for (const name of [...Object.keys(answers), 'poisoned']) {
      expect([name, (happened[name] ?? 0) > 0.25 * kills]).toEqual([name, true]);
    }

    const state = openSqliteState({ dir });
    expect((await state.spool.quarantined()).map(({ executionId, reason }) => [executionId, reason])).toEqual([
      ['37', 'HTTP 400: bad span'],
      ['1234', 'HTTP 400: bad span'],
    ]);
    expect(await state.spool.size()).toMatchObject({ traces: 0, bytes: 0, quarantinedTraces: 2 });
    await state.close();
  }, 120_000);
});

type Behaviour = { readonly answer: Answer; readonly isTaken: boolean };

const accepted: Behaviour = { answer: accept, isTaken: true };

const answers: Readonly<Record<string, Behaviour>> = {
  accepted,
  lost: { answer: (response) => void response.socket?.destroy(), isTaken: true },
  again: accepted,
  overloaded: { answer: say(503, 'full', { 'retry-after': '1' }), isTaken: false },
  partial: {
    answer: say(200, Buffer.from('0a020801', 'hex'), { 'content-type': 'application/x-protobuf' }),
    isTaken: true,
  },
  busy: { answer: say(429), isTaken: false },
  hanging: { answer: () => {}, isTaken: true },
  third: accepted,
};

function toExecution(trace: Buffer): number {
  return Number(/RUN shop\/(\d+)\/nightly/.exec(trace.toString('latin1'))?.[1]);
}
