import { open, rename, rm } from 'node:fs/promises';
import { createLargeAnswers } from '../../api/answers/large-answers.ts';
import { createProjectList } from '../../api/project-list.ts';
import type { Config, ServerConfig } from '../../config/config.ts';
import type { Clock } from '../../domain/clock.ts';
import { toHistorySeries } from '../../executions/history/history-series.ts';
import { countRuns, pageKind } from '../../executions/history/pages.ts';
import { readHistory } from '../../executions/history/read-history.ts';
import { renderHistory, sizeOf } from '../../executions/history/write-series.ts';
import type { LabelPair } from '../../metrics/family.ts';
import type { Ledger } from '../../state/ledger.ts';
import { openSqliteState } from '../../state/sqlite.ts';
import type { State } from '../../state/state.ts';
import { connectServer } from '../connect.ts';
import { toExecutionSettings } from '../server-settings.ts';

/** Executions that ended at `sinceMs` or later and before `untilMs`, so that a file can begin at the end of another file. */
export type Span = { readonly sinceMs: number; readonly untilMs: number };

type HistoryWish = {
  readonly server: ServerConfig;
  readonly config: Config;
  /** The configured span. A resumed run for the same file keeps its first span. */
  readonly span: Span;
  /** The labels that scrapes will add. */
  readonly labels: readonly LabelPair[];
  readonly output: string;
  readonly clock: Clock;
  readonly report: HistoryReport;
};

export type HistoryReport = {
  /** Called before the first request with the span of the file. */
  readonly begun: (span: Span) => void;
  readonly reading: (span: Span, executions: number) => void;
  readonly read: (executions: number) => void;
  readonly writing: (size: { readonly lines: number; readonly bytes: number }) => void;
  readonly written: (bytes: number) => void;
};

type Written = { readonly span: Span; readonly executions: number; readonly complaints: readonly string[] };

/**
 * Reads the past executions of a server once and writes their series as OpenMetrics. Read executions are stored beside
 * the file, so that an interrupted run can continue.
 */
export async function writeHistory(wish: HistoryWish): Promise<Written> {
  const { server, config, labels, output, clock, report } = wish;
  const settings = toExecutionSettings(server, config);
  const readDir = `${output}.read`;
  const { span, executions, pages, complaints } = await readPages(openSqliteState({ dir: readDir }, clock), wish);
  const baseLabels: readonly LabelPair[] = [['server', server.name], ...server.labels, ...labels];
  const series = toHistorySeries(pages, { rules: settings, baseLabels });
  report.writing(sizeOf(series, span));
  await writeWhole(output, renderHistory(series, { ...span, bounds: settings.buckets }), report.written);
  await rm(readDir, { recursive: true });
  return { span, executions, complaints };
}

async function readPages({ ledger, close }: State, wish: HistoryWish) {
  const { name } = wish.server;
  try {
    const span = await keepSpan(ledger, name, wish.span);
    wish.report.begun(span);
    const complaints = await readExecutions(ledger, span, wish);
    const pages = (await ledger.load(name, [pageKind])).filter(({ kind }) => kind === pageKind);
    return { span, executions: countRuns(pages), pages, complaints };
  } finally {
    await close();
  }
}

/** Stores the span of the first run, and returns it for later runs. */
async function keepSpan(ledger: Ledger, server: string, wanted: Span): Promise<Span> {
  const kept = (await ledger.load(server, [spanKind])).find(({ kind }) => kind === spanKind);
  // This cast is safe: the code below writes this document.
  if (kept?.body !== undefined) return JSON.parse(kept.body) as Span;
  await ledger.commit(server, { documents: [{ kind: spanKind, key: '', body: JSON.stringify(wanted) }] });
  return wanted;
}

const spanKind = 'history-span';

async function readExecutions(ledger: Ledger, span: Span, { server, config, clock, report }: HistoryWish) {
  const observe = { request: ignore, error: ignore, waited: ignore, inFlight: ignore, circuit: ignore };
  const largeAnswers = createLargeAnswers({ clock });
  const { client, close } = connectServer(server, { clock, observe, onSecret: ignore, largeAnswers });
  try {
    const api = client.within({ lane: 'normal', forMs: server.timeoutMs });
    const projects = await createProjectList({ isWanted: server.projects.isWanted, clock }).read(api);
    return await readHistory({
      server: server.name,
      api,
      projects: projects.map(({ name }) => name),
      window: { beginMs: span.sinceMs, endMs: span.untilMs - 1 },
      ledger,
      settings: toExecutionSettings(server, config),
      clock,
      onTotal: (executions) => report.reading(span, executions),
      onRead: report.read,
    });
  } finally {
    await close();
  }
}

/** Writes a temporary file and renames it, so that an incomplete file never has the final name. */
async function writeWhole(path: string, pieces: Iterable<string>, onWritten: (bytes: number) => void): Promise<void> {
  const part = `${path}.part`;
  const file = await open(part, 'w', 0o600);
  try {
    let bytes = 0;
    for (const piece of pieces) {
      // Unlike `write`, `appendFile` fails if the disk has no room for the end of a piece.
      await file.appendFile(piece);
      bytes += Buffer.byteLength(piece);
      onWritten(bytes);
    }
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(part, path);
}

function ignore(): void {}
