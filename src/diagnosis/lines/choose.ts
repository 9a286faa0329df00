import { type FirstCause, isOfStep, type LogLine } from '../../domain/failure-class.ts';

/**
 * Chooses the lines by which a failure is recognized (`shown-lines.ts` chooses the lines for people): errors of the failed step
 * on the failed node, or else its standard error, or else its last output. Lines of the server are omitted, because they are
 * the same for every failure.
 */
export function chooseLines(
  lines: readonly LogLine[],
  cause: Pick<FirstCause, 'node' | 'context'>,
): readonly LogLine[] {
  const said = lines.filter(({ text }) => text.trim() !== '' && !isOfServer(text));
  const ofStep = linesOfStep(said, cause);
  const found = ofStep.length > 0 ? ofStep : said.filter(({ context }) => context === undefined);
  for (const level of ['ERROR', 'WARN', 'NORMAL'] as const) {
    const ofLevel = found.filter((line) => line.level === level);
    if (ofLevel.length > 0) return ofLevel.slice(level === 'NORMAL' ? -lastOutput : -lastErrors);
  }
  return [];
}

export function linesOfStep(
  lines: readonly LogLine[],
  cause: Pick<FirstCause, 'node' | 'context'>,
): readonly LogLine[] {
  return lines.filter((line) => isOfStep(line, cause));
}

const lastErrors = 12;
const lastOutput = 3;

export function isOfServer(text: string): boolean {
  return /^(Failed: [A-Za-z]{1,60}\b|Result: -?\d+$|Execution (failed|halted)\b|Log output limit exceeded:|\[wf:[\da-f-]{36}\] )/.test(
    text,
  );
}
