import { readFile } from 'node:fs/promises';
import { findTlsProblems } from '../api/wire/tls-material.ts';
import { type Complaint, formatComplaint, quote } from '../domain/complaint.ts';
import { findFileVariables, type OtlpSettings, readOtlpSettings } from '../tracing/deliver/settings.ts';
import type { CommandContext } from './command.ts';

/** Reads the trace settings, and tests their certificates and keys; undefined after all complaints were printed. */
export async function loadOtlpOrComplain({
  env,
  complain,
}: Pick<CommandContext, 'env' | 'complain'>): Promise<OtlpSettings | undefined> {
  const read = readOtlpSettings(env);
  const complaints = 'endpoint' in read ? await tryFiles(read, findFileVariables(env)) : read;
  if ('endpoint' in read && complaints.length === 0) return read;
  complain(`${complaints.map(formatComplaint).join('\n')}\n`);
  return undefined;
}

type Part = keyof OtlpSettings['files'];

/** Complains now rather than at the first delivery, while the person who starts the process is watching. */
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
