import { readFile } from 'node:fs/promises';
import { areArgumentsFine, type CommandContext, exitCodes } from './command.ts';
import { rewriteQueries } from './queries/rewrite-queries.ts';

export async function migrateQueries(context: CommandContext): Promise<number> {
  const {
    arguments: {
      positionals: [path],
    },
    write,
    copy = write,
    complain,
  } = context;
  if (!areArgumentsFine(context)) return exitCodes.misconfigured;
  if (path === undefined) {
    complain('migrate-queries: needs the file of a dashboard (JSON) or of rules (YAML)\n');
    return exitCodes.misconfigured;
  }
  try {
    const { text, rewritten, left } = rewriteQueries(await readFile(path, 'utf8'));
    copy(text);
    for (const { line, what, because } of left) complain(`${path}:${line}: ${what} is unchanged: ${because}\n`);
    complain(`${rewritten} rewritten, ${left.length} left\n`);
    return left.length === 0 ? exitCodes.well : exitCodes.failed;
  } catch (error) {
    complain(`${path}: ${error instanceof Error ? error.message : String(error)}\n`);
    return exitCodes.misconfigured;
  }
}
