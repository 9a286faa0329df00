import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Change } from './changes.ts';
import { applyChange } from './mutants.ts';

const top = join(import.meta.dirname, '..', '..');

/** Reports whether the compiler refuses a mutant. Works on a copy of the sources. */
export function isRefusedByTypes(mutant: Change & { readonly file: string }, text: string): boolean {
  const copy = mkdtempSync(join(tmpdir(), 'automation-exporter-mutant-'));
  try {
    cpSync(join(top, 'src'), join(copy, 'src'), { recursive: true });
    for (const name of ['alerts', 'dashboards', 'node_modules', 'package.json', 'simulator']) {
      symlinkSync(join(top, name), join(copy, name));
    }
    writeFileSync(join(copy, mutant.file), applyChange(text, mutant));
    // Mutants may leave code unused.
    const compilerOptions = { noUnusedLocals: false, noUnusedParameters: false, allowUnreachableCode: true };
    const config = { extends: join(top, 'tsconfig.json'), compilerOptions, include: ['src'] };
    writeFileSync(join(copy, 'tsconfig.json'), JSON.stringify(config));
    const compiler = join(top, 'node_modules', 'typescript', 'bin', 'tsc');
    return spawnSync(process.execPath, [compiler, '-p', copy, '--noEmit'], { cwd: copy }).status !== 0;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}
