import { systemClock } from '../../../src/domain/system-clock.ts';
import { openSqliteState } from '../../../src/state/sqlite.ts';
import { createWait } from '../../../src/tracing/deliver/pause.ts';
import { createPost } from '../../../src/tracing/deliver/post.ts';
import { createSender } from '../../../src/tracing/deliver/sender.ts';
import { makeTrace } from './made-traces.ts';

const [dir = '', endpoint = '', count = ''] = process.argv.slice(2);
const executions = Number(count);
const atOnce = 10;

const state = openSqliteState({ dir });
const documents = await state.ledger.load('prod');
const nothing = (): void => {};
const sender = createSender({
  spool: state.spool,
  post: createPost({
    settings: { endpoint, headers: [], compression: 'gzip', timeoutMs: 80, files: {} },
    readFile: async (path) => path,
    userAgent: 'test',
    clock: systemClock,
  }),
  observe: {
    exported: nothing,
    rejected: nothing,
    warned: nothing,
    quarantine: nothing,
    dropped: nothing,
    request: nothing,
    failing: nothing,
    recovered: nothing,
    size: ({ traces }) => {
      if (traces === 0 && counted === executions) say('all delivered');
    },
  },
  scrub: (text) => text,
  quarantineBounds: { maxBytes: 1e9, maxTraces: 1e6 },
  gathering: { maxBytes: 1e6, maxTraces: 15 },
  clock: systemClock,
  // A wait of one second takes one millisecond.
  wait: (forMs, signal) => createWait(systemClock)(forMs / 1000, signal),
});

let counted = Number(documents.find(({ kind }) => kind === 'counted')?.body ?? 0);
// The previous process counted these executions, and was killed before it spooled their traces.
await spool(documents.filter(({ kind }) => kind === 'pending').map(({ key }) => Number(key)));
sender.start();
say('started');
while (counted < executions) {
  const ids = Array.from({ length: Math.min(atOnce, executions - counted) }, (_, index) => counted + index + 1);
  const last = counted + ids.length;
  await state.ledger.commit('prod', {
    documents: [
      { kind: 'counted', key: '', body: String(last) },
      ...ids.map((id) => ({ kind: 'pending', key: String(id), body: '{}' })),
    ],
  });
  await createWait(systemClock)(0, new AbortController().signal);
  await spool(ids);
  counted = last;
  sender.wake();
}

function say(word: string): void {
  process.stdout.write(`${word}\n`);
}

function spool(ids: readonly number[]): Promise<void> {
  return state.ledger.commit('prod', {
    documents: ids.map((id) => ({ kind: 'pending', key: String(id), body: undefined })),
    // Each process makes traces with other bytes.
    spooled: ids.map((id) => makeTrace(id, { maker: String(process.pid) })),
  });
}
