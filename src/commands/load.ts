import { readFile } from 'node:fs/promises';
import { findTlsProblems } from '../api/wire/tls-material.ts';
import { type LoadedConfig, loadConfig } from '../config/load-config.ts';
import { collectors } from '../daemon/catalogue/collectors.ts';
import { setTimeZone } from '../domain/ages.ts';
import { formatComplaint } from '../domain/complaint.ts';
import { checkInterval } from '../domain/interval.ts';
import { describePath } from '../domain/read-error.ts';
import type { CommandContext } from './command.ts';
import { listFamilies, listTakenLabels } from './reserved-labels.ts';

export type Loaded = Extract<LoadedConfig, { ok: true }> & { readonly loadAgain: () => Promise<LoadedConfig> };

export const noServer =
  'no server is configured: set AUTOMATION_EXPORTER_URL and AUTOMATION_EXPORTER_TOKEN_FILE, or list servers in a file and give --config.file';

/** Returns the checked configuration. Returns undefined after printing all complaints. */
export async function loadOrComplain(
  context: CommandContext,
  extraEnv: Readonly<Record<string, string>> = {},
): Promise<Loaded | undefined> {
  const load = () =>
    loadConfig({
      arguments: context.arguments,
      env: { ...context.env, ...extraEnv },
      readFile: (path) => readPatiently(path, context.complain),
      collectors,
      families: listFamilies(),
      takenLabels: listTakenLabels(),
      ignoresServers: 'AUTOMATION_EXPORTER_URL' in extraEnv,
      validateInterval: checkInterval,
      validateTls: findTlsProblems,
    });
  const loaded = await load();
  if (loaded.ok) {
    setTimeZone(loaded.config.web.timezone);
    return { ...loaded, loadAgain: load };
  }
  context.complain(`${loaded.complaints.map(formatComplaint).join('\n')}\n`);
  return undefined;
}

/** Reads a file, and reports if that takes long, because a pipe may have no writer and a file system may not respond. */
async function readPatiently(path: string, complain: CommandContext['complain']): Promise<string> {
  const says = 'is it a pipe, or on a file system that does not respond?';
  const late = setTimeout(
    () => complain(`${describePath(path)} is still being read after ${lateMs / 1000} s: ${says}\n`),
    lateMs,
  );
  try {
    return await readFile(path, 'utf8');
  } finally {
    clearTimeout(late);
  }
}

const lateMs = 5000;
