/** The settings that a message may contain; none of them is secret. */
export type Place = {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly passwordOption?: string;
};

/** Explains an error of the database or of the connection, and says what to do. The text never contains values. */
export function explainPostgresFault(
  error: unknown,
  { host, port, database, passwordOption = 'state.postgres.password_file' }: Place,
): string {
  const { code = '', message = '' } = error as { code?: string; message?: string };
  const at = `${host}:${port}`;
  const known = bySqlState[code] ?? bySqlState[code.slice(0, 2)];
  if (known !== undefined) return known.replace('DATABASE', database).replace('PASSWORD_OPTION', passwordOption);
  if (unreachable.includes(code))
    return `${at} cannot be reached (${code}); start the database, or correct its address`;
  if (message.includes('does not support SSL')) {
    return `${at} offers no TLS; turn it on there, or set \`state.postgres.tls.disable\``;
  }
  if (isTlsFault(code))
    return `the certificate of ${at} is not accepted (${code}); correct the certificate, or \`state.postgres.tls\``;
  if (message.includes('password must be')) return `the database asks for a password; set \`${passwordOption}\``;
  if (message.includes('timeout'))
    return `${at} did not respond in time; check whether it is overloaded or cannot be reached`;
  if (isLostConnection(error)) return `the connection to ${at} was lost; the next request opens it again`;
  return code === '' ? message || 'unknown error' : `${message} (${code})`;
}

const lacksTables =
  'a table or column of the exporter is missing, or a pooler such as PgBouncer does not keep sessions; set its pool_mode to session, or restore the database from a backup; to count anew, stop all exporters, drop the schema, and start the exporters';

/** Explanations by SQLSTATE or by its class. */
const bySqlState: Readonly<Record<string, string>> = {
  '08': 'the connection was lost; the next request opens it again',
  '22': 'the database refuses a value that it cannot store',
  '23505': 'another process prepares the same tables; try again',
  '25006': 'the database only reads, as a standby does; connect to the primary',
  '25P03': 'the transaction waited too long in this process, and the database ended it',
  '28000': 'the database refuses this user, address or TLS; correct its pg_hba.conf, or `state.postgres`',
  '28P01': 'the database refuses the user or the password; correct `PASSWORD_OPTION`',
  '3D000': 'the database DATABASE does not exist; create it, or correct `state.postgres.database`',
  '40': 'the database had too many conflicts between transactions; the exporter retries the transactions',
  '3F000': lacksTables,
  '42703': lacksTables,
  '42P01': lacksTables,
  '42501': 'no permission; grant this user the rights that docs/several-exporters.md lists',
  '53100': 'the disk of the database is full; make room there',
  '53200': 'the database is out of memory',
  '53300': 'the database has no connection left; raise its max_connections, or use fewer clients',
  '53': 'the database lacks memory, disk space or other resources',
  '55P03': 'another transaction holds a row for too long',
  '57014': 'a statement took too long; check whether the database is overloaded',
  '57P01': 'the database is being stopped; the exporter will connect again',
  '57P02': 'the database has crashed; the exporter will connect again',
  '57P03': 'the database is starting or stopping; the exporter will connect again',
  '58': 'the database has a disk error; see its log',
  XX: 'the database has an internal error; see its log',
};

const unreachable = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT', 'ENOENT'];

function isTlsFault(code: string): boolean {
  return /CERT|SELF_SIGNED|UNABLE_TO_|ERR_TLS|ERR_SSL|EPROTO/.test(code);
}

function isLostConnection(error: unknown): boolean {
  const { code = '', message = '' } = error as { code?: string; message?: string };
  return ['ECONNRESET', 'EPIPE'].includes(code) || /^(?:Connection terminated|Client has encountered)/.test(message);
}

/** Reports whether a transaction failed only because of a concurrent transaction. */
export function isRetryable(error: unknown): boolean {
  const { code = '' } = error as { code?: string };
  return code === '40001' || code === '40P01';
}

/** Reports whether a commit may have happened although it failed. */
export function leavesCommitOpen(error: unknown): boolean {
  const { code = '' } = error as { code?: string };
  if (code === '40003' || code.startsWith('08') || code.startsWith('57')) return true;
  return !/^[0-9A-Z]{5}$/.test(code) || code === 'EPIPE';
}
