/** Whether the service runs anything at all (Document A, section 3). */
export const executionModes = ['active', 'passive'] as const;
export type ExecutionMode = (typeof executionModes)[number];

/** A word that is not one of the modes is no mode: better no series than a wrong one. */
export function toExecutionMode(word: string | undefined): ExecutionMode | undefined {
  return executionModes.find((mode) => mode === word);
}
