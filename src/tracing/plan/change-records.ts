import { hash } from 'node:crypto';
import type { Change } from '../../diagnosis/changes/deciding/change.ts';
import { conventional, own } from './attribute-names.ts';
import type { LogRecords } from './log-records.ts';
import type { Attributes, Trace } from './span.ts';

type About = {
  readonly server: string;
  readonly service: string;
  readonly scope: Trace['scope'];
  readonly observedMs: number;
  /** The project; empty for changes of the whole server. */
  readonly project: string;
};

/** Returns the changes of a project or a server as events. */
export function toChangeRecords(changes: readonly Change[], about: About): LogRecords {
  const { server, service, scope, observedMs, project } = about;
  return {
    resource: { [conventional.service]: service, ...(project === '' ? {} : { [conventional.namespace]: project }) },
    scope,
    records: changes.map((change) => ({
      atMs: change.atMs ?? change.beforeMs,
      observedMs,
      level: 'NORMAL',
      eventName: 'automation.change',
      body: toText(change),
      attributes: toAttributes(server, change),
    })),
  };
}

export function toRecordIds({ records }: LogRecords): readonly string[] {
  return records.map(({ attributes }) => String(attributes[conventional.recordId]));
}

function toText({ kind, subject, what, by }: Change): string {
  return `${kind}${subject === '' ? '' : ` ${subject}`}: ${what}${by === undefined ? '' : ` by ${by}`}`;
}

function toAttributes(server: string, change: Change): Attributes {
  const { kind, subject, what, afterMs, beforeMs, by } = change;
  return {
    [own.server]: server,
    [own.changeKind]: kind,
    ...(subject === '' ? {} : { [own.changeSubject]: subject }),
    [own.changeWhat]: what,
    [own.changeAfter]: new Date(afterMs).toISOString(),
    [own.changeBefore]: new Date(beforeMs).toISOString(),
    ...(by === undefined ? {} : { [conventional.user]: by }),
    // A change that is delivered twice has the same id both times.
    [conventional.recordId]: hash(
      'sha256',
      JSON.stringify([server, kind, change.project, subject, what, beforeMs]),
    ).slice(0, 32),
  };
}
