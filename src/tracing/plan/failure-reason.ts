/** The values of `error.type` that reasons of the server become; a closed list, whatever plugins write. */
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

/** Undefined where no reason was given. */
export function toErrorType(reason: string | undefined): string | undefined {
  if (reason === undefined) return undefined;
  return knownReasons.includes(reason) ? reason : otherError;
}
