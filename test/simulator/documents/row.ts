import { expect, it } from 'vitest';
import type { Simulator, SimulatorOptions } from '../../../simulator/simulator.ts';
import { ask, startSmall } from '../caller.ts';

type DialectName = 'rundeck' | 'service';

/** One response of the documents: its section, its smallest version, and the expected response at each version. */
export type Row = {
  /** The document and the section of it; `J` is the page about responses of real servers. */
  readonly section: string;
  readonly path: string;
  readonly since: number;
  /** The version that real servers require, if it differs from the documents. */
  readonly realSince?: number;
  /** Makes the changes that the request below the required version needs. */
  readonly prepare?: (simulator: Simulator) => void;
  readonly says: readonly Said[];
};

type Said = {
  readonly at: readonly number[];
  /** The newest version of the server: 47, or 58 for responses of later releases. */
  readonly server?: number;
  readonly dialect?: DialectName;
  readonly query?: string;
  readonly accept?: string;
  readonly options?: SimulatorOptions;
  readonly prepare?: (simulator: Simulator) => void;
  readonly status?: number;
  readonly json?: unknown;
  readonly text?: string;
};

/** Compares the simulated service with the rows, below and at their versions. */
export function testRows(rows: readonly Row[]): void {
  for (const row of rows) {
    for (const dialect of ['rundeck', 'service'] as const) {
      it(`refuses ${row.path} below its smallest version in the ${dialect} dialect (${row.section})`, async () => {
        const { actual, expected } = await readGate(row, dialect);
        expect(actual).toEqual(expected);
      });
    }
    for (const said of row.says) {
      for (const dialect of said.dialect === undefined ? (['rundeck', 'service'] as const) : [said.dialect]) {
        const versions = said.at.map((version) => `v${version}`).join(', ');
        const path = `${row.path}${said.query ?? ''}`;
        it(`responds at ${path} at ${versions} in the ${dialect} dialect${toPlace(said)} (${row.section})`, async () => {
          for (const version of said.at) {
            const { actual, expected } = await readAnswer(row, said, dialect, version);
            expect(actual).toEqual(expected);
          }
        });
      }
    }
  }
}

/** Values that depend on seeds. */
export const anyNumber: unknown = expect.any(Number);
export const anyText: unknown = expect.any(String);
export const anyUuid: unknown = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);

export function errorOf(apiversion: number, errorCode: string, message: string): unknown {
  return { error: true, apiversion, errorCode, message };
}

type Comparison = { readonly actual: unknown; readonly expected: unknown };

async function readGate(row: Row, dialect: DialectName): Promise<Comparison> {
  const first = Math.max(14, dialect === 'rundeck' ? (row.realSince ?? row.since) : row.since);
  const simulator = await startSmall({ dialect, apiVersion: 47 });
  row.prepare?.(simulator);
  const path = `api/${first - 1}/${row.path}`;
  const { status, json } = await ask(simulator, path, withToken(simulator, dialect));
  await simulator.stop();
  const reason = `Minimum supported version: ${first}`;
  const message = `Unsupported API Version "${first - 1}". API Request: /${path}. Reason: ${reason}`;
  const expected = errorOf(47, 'api.error.api-version.unsupported', message);
  return { actual: { status, json }, expected: { status: 400, json: expected } };
}

async function readAnswer(row: Row, said: Said, dialect: DialectName, version: number): Promise<Comparison> {
  const apiVersion = said.server ?? (version > 47 ? 58 : 47);
  const simulator = await startSmall({ dialect, apiVersion, ...said.options });
  said.prepare?.(simulator);
  const accept = said.accept === undefined ? {} : { accept: said.accept };
  const path = `api/${version}/${row.path}${said.query ?? ''}`;
  const reply = await ask(simulator, path, { ...withToken(simulator, dialect), ...accept });
  await simulator.stop();
  const status = said.status ?? 200;
  return said.text === undefined
    ? { actual: { version, status: reply.status, json: reply.json }, expected: { version, status, json: said.json } }
    : { actual: { version, status: reply.status, text: reply.text }, expected: { version, status, text: said.text } };
}

function withToken(simulator: Simulator, dialect: DialectName) {
  const name = dialect === 'service' ? 'X-Service-Auth-Token' : 'X-Rundeck-Auth-Token';
  return { headers: { [name]: simulator.token } };
}

function toPlace({ server, accept }: Said): string {
  const of = server === undefined ? '' : ` of a server of v${server}`;
  return accept === undefined ? of : `${of} as ${accept}`;
}
