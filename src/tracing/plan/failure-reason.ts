/** The values of `error.type` for reasons of the server: a closed list, because plugins write any text. */
const knownReasons: readonly string[] = [
  'AuthenticationFailure',
  'ConfigurationFailure',
  'ConnectionFailure',
  'ConnectionTimeout',
  'HostNotFound',
  'IOFailure',
  'Interrupted',
  'JobFailed',
  'NoMatchedNodes',
  'NodeDispatchFailure',
  'NonZeroResultCode',
  'PluginFailed',
];

export const otherError = '_OTHER';
export const nodeFailure = 'node_failure';
export const incomplete = 'incomplete';
export const timeout = 'timeout';

export function toErrorType(reason: string | undefined): string | undefined {
  if (reason === undefined) return undefined;
  return knownReasons.includes(reason) ? reason : otherError;
}
