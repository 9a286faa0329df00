import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export type Source = { readonly path: string; readonly text: string };

export type Import = { readonly target: string; readonly typeOnly: boolean };

/** The folders of shipped programs. */
export const programs = ['src', 'simulator'];

/** The TypeScript files of these folders, by their path from the top of the repository; missing folders have none. */
export function readSources(folders: readonly string[]): readonly Source[] {
  const top = join(import.meta.dirname, '..', '..');
  const present = folders.filter((folder) => existsSync(join(top, folder)));
  return present.flatMap((folder) => {
    const entries = readdirSync(join(top, folder), { recursive: true, encoding: 'utf8' });
    const names = entries.filter((name) => name.endsWith('.ts')).toSorted();
    return names.map((name) => ({ path: `${folder}/${name}`, text: readFileSync(join(top, folder, name), 'utf8') }));
  });
}

const statement = /^(?:import|export)\s+(type\s+)?[\w$*{][\w$*{},\s]*?\bfrom\s*['"]([^'"]+)['"]/gm;
const bareStatement = /^import\s*['"]([^'"]+)['"]/gm;
const call = /\b(?:import|require)\(\s*(?:['"]([^'"]+)['"])?/g;

/** Every import of a file: statements, re-exports and calls; a call with anything but a literal has the target `?`. */
export function readImports(text: string): readonly Import[] {
  const code = withoutComments(text);
  const statements = [...code.matchAll(statement)].map(([, type, target = '?']) => ({
    target,
    typeOnly: type !== undefined,
  }));
  const others = [...code.matchAll(bareStatement), ...code.matchAll(call)].map(([, target = '?']) => ({
    target,
    typeOnly: false,
  }));
  return [...statements, ...others];
}

// Only comments on whole lines are removed, because a mark after code may be part of a string.
function withoutComments(text: string): string {
  return text.replaceAll(/^\s*\/\*[^]*?\*\//gm, '').replaceAll(/^\s*\/\/.*$/gm, '');
}
