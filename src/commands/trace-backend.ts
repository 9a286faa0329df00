import { readFile } from 'node:fs/promises';
import { findTlsProblems } from '../api/wire/tls-material.ts';
import type { Config } from '../config/config.ts';
import { sendsLogs } from '../daemon/server-settings.ts';
import { type Complaint, formatComplaint, quote } from '../domain/complaint.ts';
import { type PushSettings, readPushSettings } from '../tracing/deliver/push-settings.ts';
import { secretsOf } from '../tracing/deliver/secrets.ts';
import {
  findFileVariables,
  type Otlp,
  type OtlpSettings,
  readOtlpSettings,
  type Signal,
} from '../tracing/deliver/settings.ts';
import type { CommandContext } from './command.ts';

/**
 * Reads the settings for traces and log records, and tests their certificates and keys. Returns undefined after printing all
 * complaints. Variables for log records are ignored if none are sent, or if the configuration is wrong.
 */
export async function loadOtlpOrComplain(
  context: Pick<CommandContext, 'env' | 'complain'>,
  config: Pick<Config, 'diagnosis'> | undefined,
): Promise<Otlp | undefined> {
  const complaints = new Set<string>();
  const read = async (signal: Signal): Promise<OtlpSettings | undefined> => {
    const found = readOtlpSettings(context.env, signal);
    const faults = 'endpoint' in found ? await tryFiles(found, findFileVariables(context.env, signal)) : found;
    if (signal === 'traces' || (config !== undefined && sendsLogs(config.diagnosis)))
      for (const fault of faults) complaints.add(formatComplaint(fault));
    return 'endpoint' in found && faults.length === 0 ? found : undefined;
  };
  const [traces, logs] = [await read('traces'), await read('logs')];
  if (traces !== undefined && complaints.size === 0) return { ...traces, logs };
  context.complain(`${[...complaints].join('\n')}\n`);
  return undefined;
}

type Backends = { readonly otlp: Otlp; readonly push?: PushSettings };

/** Reads the settings of all signals. Returns undefined after printing all complaints. */
export async function loadBackendsOrComplain(
  context: Pick<CommandContext, 'env' | 'complain'>,
  config: Pick<Config, 'diagnosis'> | undefined,
): Promise<Backends | undefined> {
  const otlp = await loadOtlpOrComplain(context, config);
  const pushing = await loadPushOrComplain(context);
  return otlp && pushing && { otlp, ...pushing };
}

export function secretsOfBackends({ otlp, push }: Backends): readonly string[] {
  return [otlp, otlp.logs, push].flatMap((settings) => (settings === undefined ? [] : secretsOf(settings)));
}

/** Reads the settings for metrics; none if metrics are not pushed. Returns undefined after printing all complaints. */
async function loadPushOrComplain({
  env,
  complain,
}: Pick<CommandContext, 'env' | 'complain'>): Promise<{ readonly push?: PushSettings } | undefined> {
  const found = readPushSettings(env);
  if (found === undefined) return {};
  const faults = 'endpoint' in found ? await tryFiles(found, findFileVariables(env, 'metrics')) : found;
  if ('endpoint' in found && faults.length === 0) return { push: found };
  complain(`${faults.map(formatComplaint).join('\n')}\n`);
  return undefined;
}

type Part = keyof OtlpSettings['files'];

/** Reads the files once, so that complaints appear at the start and not at the first delivery. */
async function tryFiles(
  { files }: OtlpSettings,
  variables: Readonly<Partial<Record<Part, string>>>,
): Promise<Complaint[]> {
  const complaints: Complaint[] = [];
  const complain = (part: Part, says: string): void =>
    void complaints.push({ place: variables[part] ?? part, message: `the file ${quote(files[part] ?? '')} ${says}` });
  const read = async (part: Part): Promise<{ readonly [Name in Part]?: string }> => {
    const path = files[part];
    if (path === undefined) return {};
    try {
      return { [part]: await readFile(path, 'utf8') };
    } catch (error) {
      complain(part, `cannot be read (${(error as { code?: string }).code ?? 'unknown error'})`);
      return {};
    }
  };
  const material = { ...(await read('ca')), ...(await read('cert')), ...(await read('key')) };
  for (const { part, says } of findTlsProblems(material, variables.cert)) complain(part, says);
  return complaints;
}
