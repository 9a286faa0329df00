import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAllDocuments, stringify } from 'yaml';
import { findTool } from '../tools.ts';

/** The parts of a Kubernetes object that are read here. */
export type KubernetesObject = {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: {
    readonly name: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
};

const root = new URL('../../', import.meta.url).pathname;
const ownChart = join(root, 'deploy/helm/automation-exporter');

/** Renders the objects of the chart with these values in YAML; throws with the complaints of Helm. */
export function renderChart(
  helm: string,
  values: string,
  { release = 'prod', chart = ownChart } = {},
): readonly KubernetesObject[] {
  const folder = mkdtempSync(join(tmpdir(), 'automation-exporter-chart-'));
  try {
    const file = join(folder, 'values.yaml');
    writeFileSync(file, values);
    const args = ['template', release, chart, '--namespace', 'monitoring', '--values', file];
    const text = execFileSync(helm, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
    // Kubernetes reads YAML 1.1, where 0440 is octal. This cast is safe: Helm printed the objects, and tests check them.
    return parseAllDocuments(text, { version: '1.1' }).flatMap(
      (document) => (document.toJS() as KubernetesObject | null) ?? [],
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The values for the plain manifests: one server, and a Secret with its token. */
const plainValues = `
fullnameOverride: automation-exporter
image: { repository: registry.example.org/automation-exporter }
secrets: [automation]
tests: { enabled: false }
config:
  servers:
    - name: prod
      url: https://automation.example.org
      token_file: /run/secrets/automation/token
`;

const header = '# Made from the chart by `node scripts/chart/manifests.ts`.\n';

/** Renders the plain manifests and their kustomization by file, from the chart with the fewest values. */
export function renderManifests(helm: string): Readonly<Record<string, string>> {
  const objects = renderChart(helm, plainValues, { release: 'automation-exporter' }).map(withoutHelm);
  const files = objects.map((object): readonly [string, string] => [
    `${object.kind.toLowerCase()}.yaml`,
    toYaml(object),
  ]);
  const kustomization = {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    resources: files.map(([file]) => file).toSorted((one, other) => one.localeCompare(other, 'en')),
  };
  return Object.fromEntries<string>([...files, ['kustomization.yaml', toYaml(kustomization)]]);
}

/** Renders YAML with quotes around texts that YAML 1.1 reads differently. */
function toYaml(object: object): string {
  return `${header}${stringify(object, { lineWidth: 0, version: '1.1' })}`;
}

/** Removes the labels that only Helm reads from all levels of an object. */
function withoutHelm<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map(withoutHelm) as Value;
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(
    ([key]) => key !== 'helm.sh/chart' && key !== 'app.kubernetes.io/managed-by' && key !== 'checksum/config',
  );
  const kept = entries.filter(([key, inner]) => key !== 'annotations' || !isOnlyHelms(inner));
  return Object.fromEntries(kept.map(([key, inner]) => [key, withoutHelm(inner)])) as Value;
}

function isOnlyHelms(annotations: unknown): boolean {
  return (
    typeof annotations === 'object' && annotations !== null && Object.keys(annotations).join() === 'checksum/config'
  );
}

if (import.meta.main) {
  const helm = findTool('helm');
  if (helm === undefined) throw new Error('helm is not installed: run `node scripts/install-tools.ts`');
  for (const [file, text] of Object.entries(renderManifests(helm)))
    writeFileSync(join(root, 'deploy/kubernetes', file), text);
}
