import { stringify } from 'yaml';
import manifest from '../../package.json' with { type: 'json' };
import { listFamilies } from '../../src/commands/reserved-labels.ts';
import { toJsonSchema } from '../../src/config/show/json-schema.ts';
import { collectors } from '../../src/daemon/catalogue/collectors.ts';
import { renderThresholds } from './thresholds.ts';
import { chartValues } from './values.ts';

/** Returns the generated files of the chart by path; rules and dashboards are links. */
export function chartFiles(): Readonly<Record<string, string>> {
  return {
    'Chart.yaml': renderChartFile(),
    'values.yaml': renderValues(),
    'values.schema.json': `${JSON.stringify(toValuesSchema(), undefined, 2)}\n`,
    'README.md': renderReadme(),
    'files/thresholds.yaml': renderThresholds(),
  };
}

/** Renders the description of the chart, with the version of the exporter. */
function renderChartFile(): string {
  return `# Generated from scripts/chart/files.ts and package.json.
apiVersion: v2
name: automation-exporter
description: Prometheus exporter and OpenTelemetry tracer for Rundeck
type: application
version: ${manifest.version}
appVersion: ${manifest.version}
keywords: [prometheus, exporter, opentelemetry, rundeck, monitoring]
annotations:
  artifacthub.io/category: monitoring-logging
  artifacthub.io/license: ${manifest.license}
  artifacthub.io/operator: "false"
  artifacthub.io/prerelease: "false"
`;
}

type Tree = { [key: string]: Tree | (typeof chartValues)[number] };

/** Returns the values as a tree, in the same order. */
function toTree(): Tree {
  const tree: Tree = {};
  for (const value of chartValues) {
    const keys = value.path.split('.');
    const last = keys.pop() ?? '';
    let place = tree;
    for (const key of keys) {
      place[key] ??= {};
      // This cast is safe: a place has a value or places below it.
      place = place[key] as Tree;
    }
    place[last] = value;
  }
  return tree;
}

function isValue(node: Tree[string]): node is (typeof chartValues)[number] {
  return 'path' in node && typeof node.path === 'string';
}

function renderValues(): string {
  return `# Generated from scripts/chart/values.ts: change that, then run \`npm run generate\`.\n${renderBranch(toTree(), '')}`;
}

function renderBranch(tree: Tree, indent: string): string {
  return Object.entries(tree)
    .map(([key, node]) => {
      if (!isValue(node)) return `${indent}${key}:\n${renderBranch(node, `${indent}  `)}`;
      const lines = stringify({ [key]: node.default }, { lineWidth: 0 })
        .trimEnd()
        .split('\n');
      return `${indent}# ${node.help}\n${lines.map((line) => `${indent}${line}\n`).join('')}`;
    })
    .join(indent === '' ? '\n' : '');
}

type Schema = { readonly [key: string]: unknown };

/** Renders a schema of draft 7, for every Helm 3; unknown values are errors. */
function toValuesSchema(): Schema {
  const config = forGo(toJsonSchema(collectors, listFamilies()));
  const { $schema: _, title: _title, $defs, ...ofConfig } = config;
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Values of the chart automation-exporter',
    ...toBranchSchema(toTree(), { global: { type: 'object' } }),
    definitions: { config: ofConfig, ...($defs as Schema) },
  };
}

function toBranchSchema(tree: Tree, more: Schema = {}): Schema {
  const properties = Object.entries(tree).map(([key, node]) => [
    key,
    isValue(node) ? { description: node.help, ...node.schema } : toBranchSchema(node),
  ]);
  return { type: 'object', additionalProperties: false, properties: { ...Object.fromEntries(properties), ...more } };
}

/** Removes patterns that Helm cannot read: it uses the syntax of Go, without lookahead and \u. */
function forGo<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map(forGo) as Value;
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).flatMap(([key, inner]: [string, unknown]) => {
    if (key === 'pattern' && typeof inner === 'string' && /\(\?|\\u/.test(inner)) return [];
    if (key === '$ref' && typeof inner === 'string') return [[key, inner.replace('#/$defs/', '#/definitions/')]];
    return [[key, key === 'properties' ? withFalse(forGo(inner)) : forGo(inner)]];
  });
  return Object.fromEntries(entries) as Value;
}

/** Adds the key `false`: in YAML 1.1, which Helm reads, the key `off` is false. */
function withFalse(properties: unknown): unknown {
  if (typeof properties !== 'object' || properties === null || !('off' in properties)) return properties;
  return { ...properties, false: properties.off };
}

function renderReadme(): string {
  const rows = chartValues.map(({ path, default: fallback, help }) => {
    return `| \`${path}\` | \`${JSON.stringify(fallback).replaceAll('|', '\\|')}\` | ${help.replaceAll('|', '\\|')} |`;
  });
  return `# Helm chart of automation-exporter

Generated from \`scripts/chart\`: change that, then run \`npm run generate\`.

The chart needs Kubernetes 1.21 or newer. It runs one exporter as a StatefulSet, because its state is on a volume. With \`config.state.postgres.host\` it runs
\`replicas\` exporters without a volume, which share the servers through that database. Secrets are existing Secrets, never values.

Build the image once for each version, and push it to a registry that the cluster can read:

\`\`\`sh
docker build -t registry.example.org/automation-exporter:${manifest.version} .
docker push registry.example.org/automation-exporter:${manifest.version}
\`\`\`

Then install:

\`\`\`sh
kubectl create secret generic automation --from-file=token=./token
helm install automation-exporter deploy/helm/automation-exporter --values values.yaml
helm test automation-exporter
\`\`\`

with \`values.yaml\`:

\`\`\`yaml
image: { repository: registry.example.org/automation-exporter }
secrets: [automation]
config:
  servers:
    - name: prod
      url: https://automation.example.org
      token_file: /run/secrets/automation/token
  web:
    external_url: https://exporter.example.org
ingress: { enabled: true, className: nginx, tlsSecret: exporter-tls }
serviceMonitor: { enabled: true }
prometheusRule: { enabled: true }
dashboards: { enabled: true }
\`\`\`

Links of rules and dashboards lead to \`config.web.external_url\`; an Ingress or an HTTPRoute takes its host and path from there. Prometheus Operator
selects monitors and rules by label: with kube-prometheus-stack, set \`serviceMonitor.labels\` and \`prometheusRule.labels\` to
\`{ release: NAME-OF-THE-STACK }\`.

\`config.alerts\` applies to the PrometheusRule too: its rules get the thresholds, and alerts in \`off\` are left out.

The rules and dashboards in the chart's \`files/\` are symbolic links into \`alerts/\` and \`dashboards/\`: Helm prints each link that it follows, and \`helm package\` puts the
files in their place. A copy of this folder alone, without them, is refused where rules or dashboards are enabled.

\`helm test\` runs \`check\`: it fails if something that is enabled is denied, broken or unreachable, and its log says how to fix it.

| value | default | description |
|---|---|---|
${rows.join('\n')}
`;
}
