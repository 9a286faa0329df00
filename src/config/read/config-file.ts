import { type Complaints, quote } from '../../domain/complaint.ts';
import { describeReadError } from '../../domain/read-error.ts';
import type { ReadFile } from '../../domain/secret.ts';
import type { CollectorDefaults, FamilyFacts } from '../declare/options.ts';
import { parseYaml } from './document.ts';
import { type FileValues, readFileValues } from './file-values.ts';

export type ConfigFileOptions = {
  readonly place: string;
  readonly readFile: ReadFile;
  readonly collectors: readonly CollectorDefaults[];
  readonly families: readonly FamilyFacts[];
  readonly complaints: Complaints;
};

export async function readConfigFile(path: string, options: ConfigFileOptions): Promise<FileValues> {
  const { place, readFile, complaints } = options;
  const nothing: FileValues = { values: new Map(), servers: [], faulty: new Set(), complete: false };
  let text: string;
  try {
    text = await readFile(path);
  } catch (error) {
    complaints.add(place, `the file ${quote(path)} ${describeReadError(error)}`);
    return nothing;
  }
  if (Buffer.byteLength(text) > maxBytes) {
    complaints.add(path, 'is larger than 1 MiB');
    return nothing;
  }
  return readFileValues(parseYaml(text, path, complaints), options, complaints);
}

const maxBytes = 1024 * 1024;
