import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { renderBashCompletion, renderZshCompletion } from '../../scripts/build/completion.ts';
import { renderManual } from '../../scripts/build/man.ts';
import { makeSharedFolder } from '../support/folder.ts';
import { runCommand } from '../support/process.ts';
import { describeWithTools } from '../support/tools.ts';

const directory = makeSharedFolder();

beforeAll(() => {
  writeFileSync(join(directory, 'bash'), renderBashCompletion());
  writeFileSync(join(directory, '_automation-exporter'), renderZshCompletion());
  writeFileSync(join(directory, 'manual.1'), renderManual('1.2.3'));
});

/** The completions that bash proposes for the last of these words. */
async function complete(...words: readonly string[]): Promise<readonly string[]> {
  const quoted = ['automation-exporter', ...words].map((word) => `'${word}'`).join(' ');
  const script = `source ./bash; COMP_WORDS=(${quoted}); COMP_CWORD=${words.length}; _automation_exporter; echo "\${COMPREPLY[@]}"`;
  const printed = await runCommand('bash', ['-c', script], { cwd: directory });
  return printed.split(' ').filter((word) => word !== '');
}

describe('repository/terminal', () => {
  it('completes commands, their own flags and the options in bash', async () => {
    expect(await complete('che')).toEqual(['check']);
    expect(await complete('check', '--js')).toEqual(['--json']);
    expect(await complete('serve', '--js')).toEqual([]);
    expect(await complete('--config.f')).toEqual(['--config.file=']);
    expect(await complete('serve', '--no-collector.pi')).toEqual(['--no-collector.ping']);
    expect(await complete('serve', '--log.level', '=', 'de')).toEqual(['debug']);
    expect(await complete('serve', '--log.format', '=')).toEqual(['logfmt', 'json']);
    expect(await complete('simulate', '--dialect', '=')).toEqual(['rundeck', 'service']);
    expect(await complete('demo', '--scenario', '=', 'fail')).toEqual(['failing-night']);
    expect(await complete('quarantine', 're')).toEqual(['retry']);
    expect(await complete('migrate', '')).toEqual(['postgres', 'directory']);
    expect(await complete('migrate', 'postgres', '')).toEqual([]);
    // Bash itself proposes files.
    expect(await complete('serve', '--config.file', '=', 'con')).toEqual([]);
  });
});

describeWithTools('repository/terminal, zsh', ['zsh'], ({ zsh }) => {
  it('completes commands and flags with their help', async () => {
    // Completion needs a terminal, which zsh provides; a dumb terminal draws only words.
    const script = `
      zmodload zsh/zpty
      zpty work "TERM=dumb PS1='>' zsh -f -i"
      zpty -w work "fpath=(${directory} \\$fpath); autoload -U compinit; compinit -u -D; zstyle ':completion:*' verbose yes; echo read''y"
      zpty -r -m work out "*ready*"
      zpty -w -n work $'automation-exporter chec\\t'
      zpty -r -m work out "*check *"; print -r -- "$out"
      zpty -w -n work $'--jso\\t'
      zpty -r -m work out "*--json*"; print -r -- "$out"
      zpty -w work $'\x15'
      zpty -w -n work $'automation-exporter quarantine dro\t'
      zpty -r -m work out "*drop *"; print -r -- "$out"
      zpty -d work
    `;
    const printed = await runCommand(zsh, ['-f', '-c', script], { timeoutMs: 30_000 });
    expect(printed).toContain('automation-exporter check ');
    expect(printed).toContain('--json');
    expect(printed).toContain('quarantine drop');
  });
});

describeWithTools('repository/terminal, manual', ['man'], ({ man }) => {
  it('is readable, and has every command, flag and variable', async () => {
    const complaints = await runCommand('sh', ['-c', `LC_ALL=C.UTF-8 ${man} --warnings -l manual.1 2>&1 >/dev/null`], {
      cwd: directory,
    });
    expect(complaints).toBe('');
    const script = `LC_ALL=C.UTF-8 MANWIDTH=200 ${man} -P cat -l manual.1 | col -b`;
    const text = await runCommand('sh', ['-c', script], { cwd: directory });
    for (const word of [
      'quarantine',
      '--config.file=',
      'AUTOMATION_EXPORTER_TOKEN_FILE',
      'SIGHUP',
      'automation-exporter 1.2.3',
    ])
      expect(text).toContain(word);
  });
});
