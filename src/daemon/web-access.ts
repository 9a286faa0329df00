import { isDeepStrictEqual } from 'node:util';
import { createFileLook } from '../api/file-look.ts';
import { findTlsProblems } from '../api/wire/tls-material.ts';
import type { Config } from '../config/config.ts';
import { readWebConfig } from '../config/read/web-config.ts';
import { needsRestart } from '../config/reload.ts';
import type { Cancel, Clock } from '../domain/clock.ts';
import { createComplaints, formatComplaint } from '../domain/complaint.ts';
import type { Log } from '../domain/log.ts';
import type { WebConfig } from '../domain/web-config.ts';
import { type Access, createAccess } from '../http/access/access.ts';

type WebAccessOptions = {
  readonly config: Pick<Config, 'web' | 'webConfig'>;
  readonly log: Log;
  readonly clock: Clock;
  readonly readFile: (path: string) => Promise<string>;
};

/** Decides who may send requests. Follows changes of the web configuration and its certificates. */
export type WebAccess = {
  readonly access: Access;
  readonly take: (config: WebConfig | undefined) => void;
  /** Starts watching the files. Calls `renewTls` when certificates have changed. */
  readonly watch: (renewTls: () => void) => void;
  readonly stop: () => void;
};

export function createWebAccess({ config, log, clock, readFile }: WebAccessOptions): WebAccess | undefined {
  const { configFile: path, routePrefix } = config.web;
  let loaded = config.webConfig;
  let current = loaded;
  if (path === undefined || current === undefined) return undefined;
  const prefix = routePrefix === '/' ? '' : routePrefix;
  const access = createAccess({
    config: current,
    openPaths: [`${prefix}/-/healthy`, `${prefix}/-/ready`],
    clock,
    onRefused: (refusal) => log.warn(refusal, 'request refused'),
  });
  let renewTls = (): void => {};
  let cancel: Cancel = () => {};

  function take(next: WebConfig | undefined): boolean {
    if (next === undefined || current === undefined || isSame(next, current)) return false;
    current = next;
    access.take(next);
    renewTls();
    return true;
  }

  async function refresh(): Promise<boolean> {
    const next = await readAgain(path ?? '', readFile);
    if (needsRestart(next, current))
      throw new Error('only a restart switches TLS or client certificates on or off, or removes all users');
    return take(next);
  }

  const look = createFileLook({
    files: [{ name: 'web', refresh }],
    clock,
    observe: (_name, change) => {
      if (change.result === 'taken') log.info({ file: path }, 'web configuration reloaded: files have changed');
      else log.error({ file: path, says: change.says }, 'web configuration unusable: the previous one stays in force');
    },
  });

  function lookAgain(): void {
    cancel = clock.after(lookEveryMs, () => {
      look();
      lookAgain();
    });
  }

  return {
    access,
    take: (next) => {
      // A reload that keeps the old configuration must not undo later changes of the file.
      if (next !== loaded && !needsRestart(next, current)) take(next);
      loaded = next;
    },
    watch: (renew) => {
      renewTls = renew;
      lookAgain();
    },
    stop: () => cancel(),
  };
}

/** Files are checked even without connections, because the first connection must not get an expired certificate. */
const lookEveryMs = 5000;

async function readAgain(path: string, readFile: WebAccessOptions['readFile']): Promise<WebConfig | undefined> {
  const complaints = createComplaints();
  const read = await readWebConfig(path, { place: path, readFile, validateTls: findTlsProblems, complaints });
  const [first] = complaints.list();
  if (first !== undefined) throw new Error(formatComplaint(first));
  return read;
}

/** Compares the content, because two secrets are never the same object. */
function isSame(one: WebConfig, other: WebConfig): boolean {
  return isDeepStrictEqual(one, other) && one.tls?.key.reveal() === other.tls?.key.reveal();
}
