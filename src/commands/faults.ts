/** Ends the process with one sentence after an unexpected error, but not when nobody reads its output any more. */
export function endOnFaults(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  process.on('uncaughtException', (error: unknown) => {
    process.stderr.write(`automation-exporter ended: ${explainFault(error)}\n`);
    process.exit(1);
  });
}

/** The message, its causes, and where it came from: the first place in our own code. */
export function explainFault(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : '';
  const place = /\/((?:src|dist)\/[^\s)]+:\d+):\d+/.exec(error.stack ?? '')?.[1];
  return `an unexpected error${place === undefined ? '' : ` at ${place}`}: ${error.message}${cause}`;
}
