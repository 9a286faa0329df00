import type { Api } from '../../api/client.ts';
import { executionOutput, type LogTail } from '../../api/endpoints/execution-output.ts';
import { ApiError } from '../../api/errors.ts';
import type { StepLog } from '../../diagnosis/lines/step-log.ts';
import { type FirstCause, type LogLine, withoutHandlers, withoutParameters } from '../../domain/failure-class.ts';

/**
 * Reads the lines of a failed step on its node from the beginning of the log, because the end of a long log may show only what
 * ran after the failure. The number and size of pages are limited. Returns undefined if nothing was read.
 */
export async function readStep(
  api: Api,
  id: number,
  { node, context }: Pick<FirstCause, 'node' | 'context'>,
  logBytes: number,
): Promise<StepLog | undefined> {
  if (context === undefined || logBytes > maxLogBytes) return undefined;
  const ofStep = withoutHandlers(context);
  const ofNode = node ? { nodename: node } : {};
  const found = await readPages(api, id, { ...ofNode, stepctx: ofStep });
  const stepctx = withoutParameters(ofStep);
  // Some logs omit the parameters of steps, such as `@node=db03`.
  const isOther = found?.isWhole === true && found.lines.length === 0 && stepctx !== ofStep;
  return isOther ? readPages(api, id, { ...ofNode, stepctx }) : found;
}

type Filter = { readonly nodename?: string; readonly stepctx: string };

async function readPages(api: Api, id: number, filter: Filter): Promise<StepLog | undefined> {
  const of = { ...filter, maxlines: pageLines };
  const lines: LogLine[] = [];
  let [offset, chars] = [0, 0];
  for (let page = 0; page < maxPages && chars < maxChars; page += 1) {
    const answer = await readPage(() => api.get(executionOutput, { path: { id }, query: { ...of, offset } }));
    if (answer === undefined || answer.isLost || answer.isPending) break;
    lines.push(...answer.lines);
    chars += answer.lines.reduce((sum, { text }) => sum + text.length, 0);
    if (answer.isComplete) return { lines, isWhole: true };
    // With the same offset, the server would send the same page again.
    if (answer.offset === undefined || answer.offset <= offset) break;
    offset = answer.offset;
  }
  return lines.length === 0 ? undefined : { lines, isWhole: false };
}

/** Reads a page. A failed request only reduces the number of shown lines. */
async function readPage(ask: () => Promise<LogTail>): Promise<LogTail | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

const pageLines = 1000;
const maxPages = 5;
const maxChars = 2 ** 20;
/** In a longer log, the server's search for lines of the step would be too slow. */
const maxLogBytes = 32 * 2 ** 20;
