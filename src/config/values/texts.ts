import { text, type ValueType } from './value-type.ts';

const pathPattern = /^[\x20-\x7e\u00a0-\uffff]+$/;

export function path(example: string): ValueType<string, 'plain'> {
  return text(pathPattern, { takes: 'a path', problem: 'is not a path', examples: [example], placeholder: 'PATH' });
}

export const pemFile = path('/etc/ssl/private/automation.pem');

/** The path of a file with a secret. The value of the setting is a `Secret`. */
export const secretFile = toSecretFile('/run/secrets/automation-token');

/** A password is sent in the body of a form, which permits more characters than a header. */
export const passwordFile = { ...toSecretFile('/run/secrets/automation-password'), travels: 'form' } as const;

function toSecretFile(example: string): ValueType<string, 'secret'> {
  const about = { takes: 'a path', problem: 'is not a path', examples: [example], placeholder: 'PATH' };
  return { ...text(pathPattern, about, true), kind: 'secret' };
}

const pages =
  'executions|schedule|tonight|jobs|changes|reference|traces|config|dashboards|runbooks|alerts/rules.yaml|api/(status|why|tonight|skipped|windows|changes|quarantine)';

/** A path for the metrics, which is not the path of a page, nor below /-/, which is for health and lifecycle. */
export const urlPath = text(new RegExp(`^(?!/(${pages})$)(/(?!-/)[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+$`), {
  takes: 'a path',
  problem: 'is not a path for metrics, or is the path of a page',
  examples: ['/metrics'],
  placeholder: 'PATH',
});

/** A path prefix: the root, or a path without a slash at its end. */
export const routePrefix = text(/^(\/|(\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+)$/, {
  takes: 'a path',
  problem: 'is not a path prefix',
  examples: ['/automation'],
  placeholder: 'PATH',
});

export const serverName = text(/^[A-Za-z0-9_.:-]{1,64}$/, {
  takes: 'a name',
  problem: 'is not a name for a server',
  examples: ['prod', 'eu-1'],
  placeholder: 'NAME',
});

export const userName = text(/^[\x21-\x7e\u00a1-\uffff]([\x20-\x7e\u00a0-\uffff]{0,254}[\x21-\x7e\u00a1-\uffff])?$/, {
  takes: 'a user name',
  problem: 'is not a user name',
  examples: ['exporter'],
  placeholder: 'NAME',
});

export const siteText = text(/^[\x21-\x7e\u00a1-\uffff]([\x20-\x7e\u00a0-\uffff]{0,298}[\x21-\x7e\u00a1-\uffff])?$/, {
  takes: 'a text',
  problem: 'is not one line of at most 300 characters',
  examples: ['payments'],
  placeholder: 'TEXT',
});

export const hostName = text(/^(?!\d+(\.\d+){3}$)[A-Za-z0-9_]([A-Za-z0-9_.-]{0,251}[A-Za-z0-9])?$/, {
  takes: 'a host name',
  problem: 'is not a host name',
  examples: ['automation.example.org'],
  placeholder: 'NAME',
});

export const plainName = text(/^[\x21-\x7e\u00a1-\uffff]{1,128}$/, {
  takes: 'a name',
  problem: 'is not a name without spaces',
  examples: ['automation-service'],
  placeholder: 'NAME',
});

/** A namespace. A namespace must not contain invisible characters, because other programs also compute ids from it. */
export const namespace = text(/^[\x21-\x7e\u00a1-\uffff]([\x20-\x7e\u00a1-\uffff]{0,254}[\x21-\x7e\u00a1-\uffff])?$/, {
  takes: 'a namespace',
  problem: 'is not one line of 1 to 256 characters',
  examples: ['https://automation.example.org'],
  placeholder: 'TEXT',
});

/** The host of a database: a name, an address, or the folder of its socket. */
export const databaseHost = text(/^([A-Za-z0-9_:][A-Za-z0-9_.:-]{0,252}|\/[\x21-\x7e]{1,100})$/, {
  takes: 'a host, or the folder of a socket',
  problem: 'is not a host',
  examples: ['database.example.org', '/run/postgresql'],
  placeholder: 'HOST',
});

/** The name of a schema that needs no quotes. */
export const schemaName = text(/^[a-z_][a-z0-9_]{0,62}$/, {
  takes: 'a name',
  problem: 'is not a name of lower-case letters, digits and underscores',
  examples: ['automation_exporter'],
  placeholder: 'NAME',
});
