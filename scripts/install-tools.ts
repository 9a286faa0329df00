import { spawnSync } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { findTool, type Tool, type ToolName, tools } from './tools.ts';

const policyFile = '/usr/sbin/policy-rc.d';

/** Installs missing tools and reports them. If installing is not permitted, tests of these tools are skipped by name. */
function installTools(): void {
  const missing = listMissingTools();
  if (missing.length === 0) return;

  const packages = [...new Set(missing.flatMap((tool) => tool.packages))];
  if (packages.length > 0 && mayInstall()) installPackages(packages);
  for (const tool of missing) {
    if (tool.python !== undefined) installPython(tool.commands[0], tool.python);
    if (tool.go !== undefined) installGo(tool.commands[0], tool.go);
  }

  for (const { name, go, packages: needed, usedBy } of listMissingTools()) {
    console.log(`${name} is not installed: ${usedBy} will be skipped (${go ?? `Debian: ${needed.join(' ')}`}).`);
  }
}

/** Lists missing tools that this run needs. */
export function listMissingTools(): readonly Tool[] {
  const rows: readonly (Tool & { readonly name: ToolName })[] = tools;
  const isAll = process.env['TEST_ALL'] === 'true';
  return rows.filter(({ name, isForAll = false }) => (isAll || !isForAll) && findTool(name) === undefined);
}

if (import.meta.main) installTools();

function mayInstall(): boolean {
  return process.getuid?.() === 0 && spawnSync('apt-get', ['--version']).status === 0;
}

function installPackages(packages: readonly string[]): void {
  console.log(`Installing Debian packages: ${packages.join(' ')}`);
  const flags = ['-y', '-q', '-o', 'DPkg::Lock::Timeout=120', '--no-install-recommends'];
  const install = ['install', ...flags, ...packages];
  withServicesAtRest(() => {
    // A fresh image has no package lists, or old ones.
    if (isDone('apt-get', install)) return;
    if (isDone('apt-get', ['update', '-q'])) isDone('apt-get', install);
  });
}

/** Installs services without starting them, by Debian's policy file; an existing policy file stays. */
function withServicesAtRest(install: () => void): void {
  if (existsSync(policyFile)) {
    install();
    return;
  }
  writeFileSync(policyFile, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    install();
  } finally {
    rmSync(policyFile, { force: true });
  }
}

function installPython(python: string, requirement: string): void {
  const directory = dirname(dirname(python));
  console.log(`Installing ${requirement} into its own virtual environment`);
  const done =
    isDone('/usr/bin/python3', ['-m', 'venv', '--clear', directory]) &&
    isDone(python, ['-m', 'pip', 'install', '--quiet', '--no-input', requirement]);
  // The next run would use an incomplete environment.
  if (!done) rmSync(directory, { recursive: true, force: true });
}

function installGo(program: string, source: string): void {
  if (spawnSync('go', ['version']).status !== 0) return;
  console.log(`Building ${source}, which takes minutes`);
  isDone('go', ['install', '-trimpath', '-ldflags=-s', source], {
    timeoutMs: 1_800_000,
    env: { GOBIN: dirname(program), CGO_ENABLED: '0' },
  });
}

type Doing = { readonly timeoutMs?: number; readonly env?: Readonly<Record<string, string>> };

function isDone(command: string, args: readonly string[], { timeoutMs = 300_000, env = {} }: Doing = {}): boolean {
  const { status, stderr, error } = spawnSync(command, args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
    timeout: timeoutMs,
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', ...env },
  });
  if (status === 0) return true;
  console.log(`${command} ${args[0]} failed: ${error?.message ?? stderr.trim()}`);
  return false;
}
