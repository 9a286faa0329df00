/** The mode that decides if the service runs anything at all (API reference, "States and transitions"). */
export const executionModes = ['active', 'passive'] as const;
export type ExecutionMode = (typeof executionModes)[number];

/** Reads a mode; undefined for an unknown word: better no series than a wrong one. */
export function toExecutionMode(word: string | undefined): ExecutionMode | undefined {
  return executionModes.find((mode) => mode === word);
}
