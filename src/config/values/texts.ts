import { describeFound } from '../../domain/complaint.ts';
import type { Parsed } from './duration.ts';
import { structured } from './structure.ts';
import { parsedText, path, text, type ValueType } from './value-type.ts';

/** A path for the metrics; those below /-/ are for health and lifecycle. */
export function urlPath(): ValueType<string, 'plain'> {
  return text({
    takes: 'a path',
    pattern: /^(\/(?!-\/)[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+$/,
    problem: 'is not a path for metrics',
    examples: ['/metrics'],
    placeholder: 'PATH',
  });
}

/** A path below which everything is served: the root, or a path without a slash at its end. */
export function routePrefix(): ValueType<string, 'plain'> {
  return text({
    takes: 'a path',
    pattern: /^(\/|(\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+)$/,
    problem: 'is not a path to serve below',
    examples: ['/automation'],
    placeholder: 'PATH',
  });
}

export function serverName(): ValueType<string, 'plain'> {
  return text({
    takes: 'a name',
    pattern: /^[A-Za-z0-9_.:-]{1,64}$/,
    problem: 'is not a name for a server',
    examples: ['prod', 'eu-1'],
    placeholder: 'NAME',
  });
}

export function userName(): ValueType<string, 'plain'> {
  return text({
    takes: 'a user name',
    pattern: /^[\x21-\x7e\u00a1-\uffff]([\x20-\x7e\u00a0-\uffff]{0,254}[\x21-\x7e\u00a1-\uffff])?$/,
    problem: 'is not a user name',
    examples: ['exporter'],
    placeholder: 'NAME',
  });
}

export function pemFile(): ValueType<string, 'plain'> {
  return path('/etc/ssl/private/automation.pem');
}

/** A server name for certificates; TLS allows no addresses there (RFC 6066, section 3). */
export function hostName(): ValueType<string, 'plain'> {
  return text({
    takes: 'a host name',
    pattern: /^(?!\d+(\.\d+){3}$)[A-Za-z0-9_]([A-Za-z0-9_.-]{0,251}[A-Za-z0-9])?$/,
    problem: 'is not a host name',
    examples: ['automation.example.org'],
    placeholder: 'NAME',
  });
}

export function plainName(): ValueType<string, 'plain'> {
  return text({
    takes: 'a name',
    pattern: /^[\x21-\x7e\u00a1-\uffff]{1,128}$/,
    problem: 'is not a name without spaces',
    examples: ['automation-service'],
    placeholder: 'NAME',
  });
}

/** Other programs compute ids from a namespace too, so it must not contain invisible characters. */
export function namespace(): ValueType<string, 'plain'> {
  return text({
    takes: 'a namespace',
    pattern: /^[\x21-\x7e\u00a1-\uffff]([\x20-\x7e\u00a1-\uffff]{0,254}[\x21-\x7e\u00a1-\uffff])?$/,
    problem: 'is not one line of 1 to 256 characters',
    examples: ['https://automation.example.org'],
    placeholder: 'TEXT',
  });
}

/** The host of a database: a name, an address, or the folder of its socket. */
export function databaseHost(): ValueType<string, 'plain'> {
  return text({
    takes: 'a host, or the folder of a socket',
    pattern: /^([A-Za-z0-9_:][A-Za-z0-9_.:-]{0,252}|\/[\x21-\x7e]{1,100})$/,
    problem: 'is not a host',
    examples: ['database.example.org', '/run/postgresql'],
    placeholder: 'HOST',
  });
}

/** The name of a schema, which needs no quotes. */
export function schemaName(): ValueType<string, 'plain'> {
  return text({
    takes: 'a name',
    pattern: /^[a-z_][a-z0-9_]{0,62}$/,
    problem: 'is not a name of lower-case letters, digits and underscores',
    examples: ['automation_exporter'],
    placeholder: 'NAME',
  });
}

const place = '{trace_id}';

/** The address of a trace in the UI of the backend, with a placeholder for the id. */
export const traceLink: ValueType<string, 'plain'> = parsedText(parseTraceLink, {
  takes: 'a web address with {trace_id} in it',
  examples: [`https://traces.example.org/trace/${place}`],
  placeholder: 'URL',
  pattern: '^[hH][tT][tT][pP][sS]?://\\S*\\{trace_id\\}\\S*$',
  format: (value) => value,
});

// Messages never repeat the address: it may contain a password.
function parseTraceLink(text: string): Parsed<string> {
  const filled = text.replaceAll(place, '0'.repeat(32));
  if (!/^https?:\/\/[^\s/\\]/i.test(text) || /[\s\\]/.test(text) || !URL.canParse(filled)) {
    return { problem: 'is not a web address' };
  }
  if (!text.includes(place)) return { problem: `has no ${place}` };
  const { username, password } = new URL(filled);
  if (username !== '' || password !== '') {
    return { problem: 'holds a user or a password', hint: 'they would be visible to everyone who sees the page' };
  }
  return { value: text };
}

const maxTexts = 100;
const maxTextLength = 200;

export const textList: ValueType<readonly string[], 'plain'> = structured(
  (found, add) => {
    if (!Array.isArray(found)) return undefined;
    if (found.length > maxTexts) add({ path: [], message: `holds more than ${maxTexts} names` });
    return found.slice(0, maxTexts).flatMap((text: unknown, index) => {
      if (typeof text === 'string' && text !== '' && text.length <= maxTextLength) return [text];
      add({ path: [index], message: `takes a text, found ${describeFound(text)}` });
      return [];
    });
  },
  {
    takes: 'a list of names',
    example: '[version, region]',
    placeholder: 'NAME,…',
    fromText: (text) => text.split(','),
    format: (texts) => texts,
    jsonSchema: {
      type: 'array',
      maxItems: maxTexts,
      items: { type: 'string', minLength: 1, maxLength: maxTextLength },
    },
  },
);
