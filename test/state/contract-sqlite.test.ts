import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe } from 'vitest';
import { openSqliteState } from '../../src/state/sqlite.ts';
import { describeContract, type Engine } from './contract.ts';

describe('state/sqlite keeps the contract', () => {
  describeContract(async () => {
    const dir = mkdtempSync(join(tmpdir(), 'automation-exporter-contract-'));
    const open = (): Engine => {
      const state = openSqliteState({ dir });
      return {
        prod: state,
        other: state,
        reopen: async () => {
          await state.close();
          return open();
        },
        close: async () => {
          await state.close();
          rmSync(dir, { recursive: true, force: true });
        },
      };
    };
    return open();
  });
});
