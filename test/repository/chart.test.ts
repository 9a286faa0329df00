import { spawnSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { buildSiteRules } from '../../alerts/site.ts';
import { type KubernetesObject, renderChart, renderManifests } from '../../scripts/chart/manifests.ts';
import { load } from '../config/fixtures.ts';
import { makeFolder } from '../support/folder.ts';
import { describeWithTools } from '../support/tools.ts';

const image = 'image: { repository: registry.example.org/automation-exporter }\n';
const configured = `
secrets: [automation]
config:
  servers: [{ name: prod, url: https://automation.example.org, token_file: /run/secrets/automation/token }]
`;
const server = `${image}${configured}`;

const everything = `${server}
serviceMonitor: { enabled: true, labels: { release: stack }, interval: 30s, scrapeTimeout: 10s }
prometheusRule: { enabled: true, labels: { release: stack }, grafanaUrl: https://grafana.example.org }
dashboards: { enabled: true, annotations: { grafana_folder: Automation } }
networkPolicy: { enabled: true, ingressFrom: [{ namespaceSelector: { matchLabels: { name: monitoring } } }] }
podDisruptionBudget: { enabled: true }
`;

/** Each name stands for a way to run the chart. */
const valueSets = {
  'nothing configured': image,
  'one server': server,
  everything,
  'a PodMonitor': `${server}podMonitor: { enabled: true }\n`,
  'TLS and users': `${server}
webConfig: { existingSecret: automation-web, tls: true }
serviceMonitor:
  enabled: true
  tlsConfig: { insecureSkipVerify: true }
  basicAuth: { username: { name: scrape, key: user }, password: { name: scrape, key: password } }
prometheusRule: { enabled: true }
`,
  'no volume': `${server}persistence: { enabled: false }\n`,
  'a volume of its own': `${server}persistence: { existingClaim: state-of-prod }\n`,
  'three replicas': `${server}  state: { postgres: { host: database.example.org, password_file: /run/secrets/database/password } }
replicas: 3
serviceMonitor: { enabled: true }
`,
  'a class of volumes': `${server}persistence: { storageClassName: fast, size: 10Gi, annotations: { keep: "yes" } }\n`,
  'traces, and a prefix': `${server}  web: { route_prefix: /automation }
traces: { endpoint: "http://collector:4318", headersSecret: { name: otlp } }
serviceMonitor: { enabled: true }
`,
  'an Ingress': `${server}  web: { external_url: 'https://exporter.example.org:8443/watch/' }
ingress: { enabled: true, className: nginx, annotations: { a: b }, tlsSecret: exporter-tls }
prometheusRule: { enabled: true, grafanaUrl: https://grafana.example.org/ }
dashboards: { enabled: true }
`,
  'an HTTPRoute': `${server}  web: { external_url: 'http://exporter.example.org' }
httpRoute: { enabled: true, parentRefs: [{ name: public, namespace: gateways }] }
`,
  'a place to run, and more of everything': `${configured}
fullnameOverride: watcher
commonLabels: { team: ops }
image: { repository: registry.example.org/exporter, digest: "sha256:${'0'.repeat(64)}", pullPolicy: Always }
imagePullSecrets: [{ name: pull }]
serviceAccount: { create: false, name: existing }
service: { type: NodePort, port: 80 }
podAnnotations: { note: here }
podLabels: { zone: a }
nodeSelector: { disk: ssd }
tolerations: [{ key: ops, operator: Exists }]
affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [{ key: a, operator: Exists }] }] } } }
priorityClassName: high
extraArgs: [--log.format=json]
extraEnv: [{ name: TZ, value: UTC }]
extraVolumes: [{ name: ca, configMap: { name: ca } }]
extraVolumeMounts: [{ name: ca, mountPath: /etc/ssl/own, readOnly: true }]
networkPolicy: { enabled: true, egress: [{ to: [{ ipBlock: { cidr: 10.0.0.0/8 } }] }] }
extraObjects: [{ apiVersion: v1, kind: ConfigMap, metadata: { name: '{{ .Release.Name }}-more' }, data: { a: b } }]
`,
} as const;

type Pod = {
  readonly automountServiceAccountToken: boolean;
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly containers: readonly {
    readonly image: string;
    readonly args: readonly string[];
    readonly env?: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: unknown }[];
    readonly securityContext: Readonly<Record<string, unknown>>;
    readonly livenessProbe?: { readonly httpGet: Readonly<Record<string, string>> };
    readonly readinessProbe?: { readonly httpGet: Readonly<Record<string, string>> };
    readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
  }[];
  readonly volumes: readonly { readonly name: string; readonly secret?: { readonly defaultMode: number } }[];
};

function find(objects: readonly KubernetesObject[], kind: string): KubernetesObject & { readonly spec: unknown } {
  const found = objects.filter((object) => object.kind === kind);
  expect(found.map(({ metadata }) => metadata.name)).toHaveLength(1);
  // This cast is safe: every kind of object that is searched for has a `spec`.
  return found[0] as KubernetesObject & { readonly spec: unknown };
}

function podOf(objects: readonly KubernetesObject[]): Pod {
  const { template } = find(objects, 'StatefulSet').spec as { readonly template: { readonly spec: Pod } };
  return template.spec;
}

const rendered = new Map<string, readonly KubernetesObject[]>();

/** Renders the objects of the chart with these values, once for all tests. */
function render(helm: string, values: string): readonly KubernetesObject[] {
  const objects = rendered.get(values) ?? renderChart(helm, values);
  rendered.set(values, objects);
  return objects;
}

const isCustom = ({ apiVersion }: KubernetesObject): boolean =>
  /^(?:monitoring\.coreos\.com|gateway\.networking\.k8s\.io)\//.test(apiVersion);

describeWithTools('deploy/helm', ['helm'], ({ helm }) => {
  it.each(Object.entries(valueSets))('runs with minimal rights: %s', (_, values) => {
    const objects = render(helm, values);
    const test = objects.find(({ kind }) => kind === 'Pod') as { readonly spec: Pod } | undefined;
    for (const pod of [podOf(objects), test?.spec]) {
      expect(pod?.automountServiceAccountToken).toBe(false);
      expect(pod?.securityContext).toMatchObject({
        runAsNonRoot: true,
        runAsUser: 65532,
        seccompProfile: { type: 'RuntimeDefault' },
      });
      for (const { securityContext, image } of pod?.containers ?? []) {
        expect(securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
        expect(image).toMatch(/[:@]/);
      }
      const modes = pod?.volumes.flatMap(({ secret }) => secret?.defaultMode ?? []) ?? [];
      expect(modes.filter((mode) => mode !== 0o440)).toEqual([]);
      const names = new Set(pod?.volumes.map(({ name }) => name));
      const mounted = pod?.containers.flatMap(({ volumeMounts }) => volumeMounts.map(({ name }) => name)) ?? [];
      expect(mounted.filter((name) => !names.has(name) && name !== 'state')).toEqual([]);
    }
    const names = objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    expect(new Set(names).size).toBe(names.length);
    expect(JSON.stringify(objects)).not.toContain('<no value>');
  });

  it('has the values of its README', () => {
    const page = readFileSync(new URL('../../deploy/helm/automation-exporter/README.md', import.meta.url), 'utf8');
    const [, values = ''] = /```yaml\n([^]*?)```/.exec(page) ?? [];
    expect(render(helm, values).map(({ kind }) => kind)).toContain('PrometheusRule');
  });

  it('gives the exporter its configuration unchanged', async () => {
    const objects = render(helm, server);
    const { data } = find(objects, 'ConfigMap') as unknown as { readonly data: { readonly 'config.yaml': string } };
    const files = { '/run/secrets/automation/token': 'a-token' };
    const { config } = await load({ yaml: data['config.yaml'], files });
    expect(config.servers.map(({ name, url }) => `${name} ${url}`)).toEqual(['prod https://automation.example.org']);
    const { args, volumeMounts } = podOf(objects).containers[0] ?? {};
    expect(args).toEqual([
      'serve',
      '--config.file=/etc/automation-exporter/config.yaml',
      '--web.listen-address=:9720',
      '--state.dir=/var/lib/automation-exporter',
    ]);
    expect(volumeMounts?.map(({ mountPath }) => mountPath)).toEqual([
      '/var/lib/automation-exporter',
      '/tmp',
      '/etc/automation-exporter',
      '/run/secrets/automation',
    ]);
  });

  it('probes and scrapes with the configured TLS, users and prefix', () => {
    const tls = render(helm, valueSets['TLS and users']);
    const [exporter] = podOf(tls).containers;
    expect(exporter?.args).toContain('--web.config.file=/etc/automation-exporter-web/web.yml');
    expect(exporter?.livenessProbe?.httpGet).toEqual({ path: '/-/healthy', port: 'http', scheme: 'HTTPS' });
    const { endpoints } = find(tls, 'ServiceMonitor').spec as { readonly endpoints: readonly unknown[] };
    expect(endpoints).toEqual([
      {
        port: 'http',
        path: '/metrics',
        scheme: 'https',
        interval: '15s',
        honorLabels: true,
        relabelings: [{ sourceLabels: ['__meta_kubernetes_pod_name'], targetLabel: 'instance' }],
        tlsConfig: { insecureSkipVerify: true },
        basicAuth: { username: { name: 'scrape', key: 'user' }, password: { name: 'scrape', key: 'password' } },
      },
    ]);

    const prefixed = render(helm, valueSets['traces, and a prefix']);
    const [container] = podOf(prefixed).containers;
    expect(container?.readinessProbe?.httpGet).toEqual({ path: '/automation/-/ready', port: 'http', scheme: 'HTTP' });
    expect(JSON.stringify(find(prefixed, 'ServiceMonitor').spec)).toContain('"path":"/automation/metrics"');
    expect(container?.env).toEqual([
      { name: 'OTEL_EXPORTER_OTLP_ENDPOINT', value: 'http://collector:4318' },
      { name: 'OTEL_EXPORTER_OTLP_PROTOCOL', value: 'http/protobuf' },
      { name: 'OTEL_EXPORTER_OTLP_HEADERS', valueFrom: { secretKeyRef: { name: 'otlp', key: 'headers' } } },
    ]);
  });

  it('has every rule and dashboard, with links to the release', () => {
    const objects = render(helm, everything);
    const { groups } = find(objects, 'PrometheusRule').spec as { readonly groups: readonly unknown[] };
    const shipped = readFileSync(new URL('../../alerts/rules.yaml', import.meta.url), 'utf8');
    const own = 'http://prod-automation-exporter.monitoring.svc:9720';
    const linked = shipped
      .replaceAll('http://localhost:9720', own)
      .replaceAll('http://localhost:3000', 'https://grafana.example.org');
    expect(groups).toEqual((parse(linked) as { readonly groups: unknown }).groups);

    const dashboards = objects.filter(({ metadata }) => metadata.labels?.['grafana_dashboard'] === '1');
    const files = readdirSync(new URL('../../dashboards/', import.meta.url)).filter((file) => file.endsWith('.json'));
    expect(dashboards.map(({ metadata }) => metadata.name)).toEqual(
      files.map((file) => `prod-automation-exporter-${file.slice(0, -'.json'.length)}`),
    );
    for (const { data } of dashboards as unknown as { readonly data: Readonly<Record<string, string>> }[]) {
      for (const [file, text] of Object.entries(data)) {
        const original = readFileSync(
          new URL(`../../dashboards/${file.slice('automation-'.length)}`, import.meta.url),
          'utf8',
        );
        expect(JSON.parse(text)).toEqual(JSON.parse(original.replaceAll('http://localhost:9720', own)));
      }
    }
  });

  it.each([
    'AutomationNodeFailingEverywhere',
    'AutomationCommonCause',
    'AutomationNodeFailingEverywhere, AutomationCommonCause',
  ])('has the rules of the exporter, without %s', async (off) => {
    const alerts = `{
    thresholds: { consecutive_failures: 7, node_failures: 20, node_failure_ratio: 0.6, duration_factor: 2.5, memory_used_ratio: 0.97,
      scheduler_used_ratio: 1, executions_objective: 0.999, punctuality_objective: 0.9, service_down_for: 10m },
    off: [AutomationServerRestarted, ${off}] }`;
    const values = `${server}  alerts: ${alerts}\nprometheusRule: { enabled: true, grafanaUrl: http://localhost:3000 }\n`;
    const { groups } = find(render(helm, values), 'PrometheusRule').spec as { readonly groups: readonly unknown[] };
    const yaml = `${configured.replace('secrets: [automation]\nconfig:', '').replaceAll('\n  ', '\n')}alerts: ${alerts}`;
    const { config } = await load({ yaml, files: { '/run/secrets/automation/token': 'a-token' } });
    const served = buildSiteRules(config.alerts).replaceAll(
      'http://localhost:9720',
      'http://prod-automation-exporter.monitoring.svc:9720',
    );
    const named = (parse(served) as { readonly groups: readonly { readonly name: string }[] }).groups;
    // The chart writes disabled alerts into a list of alerts that cannot fire.
    const isCompared = ({ name }: { readonly name: string }): boolean => name !== 'automation-silent-alerts';
    expect((groups as typeof named).filter(isCompared)).toEqual(named.filter(isCompared));
  });

  it('leads browsers to the exporter', () => {
    const objects = render(helm, valueSets['an Ingress']);
    expect(find(objects, 'Ingress').metadata.annotations).toEqual({ a: 'b' });
    const service = { name: 'prod-automation-exporter', port: { name: 'http' } };
    expect(find(objects, 'Ingress').spec).toEqual({
      ingressClassName: 'nginx',
      rules: [
        {
          host: 'exporter.example.org',
          http: { paths: [{ path: '/watch', pathType: 'Prefix', backend: { service } }] },
        },
      ],
      tls: [{ hosts: ['exporter.example.org'], secretName: 'exporter-tls' }],
    });
    // The exporter serves under the path if the proxy does not remove it.
    expect(JSON.stringify(objects)).toContain('\\n  route_prefix: /watch\\n');
    expect(JSON.stringify(find(objects, 'StatefulSet').spec)).toContain('"path":"/watch/-/ready"');
    const linked = JSON.stringify(objects.filter(({ kind }) => kind !== 'Pod'));
    expect(linked).not.toMatch(/localhost/);
    expect(linked).toContain('"https://exporter.example.org:8443/watch/runbooks/AutomationServiceDown"');
    expect(linked).toContain('"https://grafana.example.org/d/automation-');
    expect(linked).toContain('\\"https://exporter.example.org:8443/watch/runbooks/\\"');

    const route = find(render(helm, valueSets['an HTTPRoute']), 'HTTPRoute').spec;
    expect(route).toEqual({
      parentRefs: [{ name: 'public', namespace: 'gateways' }],
      hostnames: ['exporter.example.org'],
      rules: [
        {
          matches: [{ path: { type: 'PathPrefix', value: '/' } }],
          backendRefs: [{ name: 'prod-automation-exporter', port: 9720 }],
        },
      ],
    });
  });

  it('keeps the state on a volume by default', () => {
    const claims = (values: string) => {
      const spec = find(render(helm, values), 'StatefulSet').spec as {
        readonly volumeClaimTemplates?: readonly { readonly spec: unknown }[];
        readonly template: { readonly spec: { readonly volumes: readonly { readonly name: string }[] } };
      };
      const own = spec.template.spec.volumes.find(({ name }) => name === 'state');
      return { claimed: spec.volumeClaimTemplates?.map((claim) => claim.spec), own };
    };
    const requests = (storage: string) => ({ accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } });
    expect(claims(server)).toEqual({ claimed: [requests('2Gi')], own: undefined });
    expect(claims(valueSets['a class of volumes'])).toEqual({
      claimed: [{ ...requests('10Gi'), storageClassName: 'fast' }],
      own: undefined,
    });
    expect(claims(valueSets['no volume'])).toEqual({ claimed: undefined, own: { name: 'state', emptyDir: {} } });
    expect(claims(valueSets['a volume of its own'])).toEqual({
      claimed: undefined,
      own: { name: 'state', persistentVolumeClaim: { claimName: 'state-of-prod' } },
    });
  });

  it('runs several replicas on a database', () => {
    const objects = render(helm, valueSets['three replicas']);
    const spec = find(objects, 'StatefulSet').spec as {
      readonly replicas: number;
      readonly volumeClaimTemplates?: unknown;
      readonly template: { readonly spec: { readonly affinity: unknown } };
    };
    const own = { 'app.kubernetes.io/name': 'automation-exporter', 'app.kubernetes.io/instance': 'prod' };
    expect(spec.replicas).toBe(3);
    expect(spec.volumeClaimTemplates).toBeUndefined();
    const pod = podOf(objects);
    expect(pod.volumes.map(({ name }) => name)).toEqual(['tmp', 'config', 'secret-automation']);
    expect(pod.containers[0]?.volumeMounts.map(({ mountPath }) => mountPath)).not.toContain(
      '/var/lib/automation-exporter',
    );
    expect(pod.containers[0]?.args).toEqual([
      'serve',
      '--config.file=/etc/automation-exporter/config.yaml',
      '--web.listen-address=:9720',
    ]);
    expect(spec.template.spec.affinity).toEqual({
      podAntiAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          {
            weight: 100,
            podAffinityTerm: { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: own } },
          },
        ],
      },
    });
    expect(find(objects, 'PodDisruptionBudget').spec).toEqual({ maxUnavailable: 1, selector: { matchLabels: own } });
  });

  it('has a helm test that runs check', () => {
    const objects = render(helm, everything);
    const pod = find(objects, 'Pod');
    expect(pod.metadata.annotations).toMatchObject({ 'helm.sh/hook': 'test' });
    expect((pod.spec as Pod).containers[0]?.args).toEqual([
      'check',
      '--live',
      '--config.file=/etc/automation-exporter/config.yaml',
      '--state.memory',
    ]);
    const { selector } = find(objects, 'Service').spec as { readonly selector: Readonly<Record<string, string>> };
    const labels = pod.metadata.labels ?? {};
    expect(Object.entries(selector).every(([name, value]) => labels[name] === value)).toBe(false);
  });

  it.each([
    ['an unknown value', 'persistance: { enabled: true }', /persistance/],
    ['a size without a unit', 'persistence: { size: "2" }', /persistence\/size|persistence\.size/],
    ['an unknown word', 'image: { pullPolicy: Sometimes }', /pullPolicy/],
    ['a port that does not exist', 'service: { port: 99999 }', /port/],
    ['a mistake in the configuration', 'config: { servers: [{ urll: "https://x" }] }', /urll/],
    ['a secret where its name belongs', 'secrets: ["Token=abc"]', /secrets/],
    ['several replicas without a database', 'replicas: 2', /set config\.state\.postgres\.host/],
    ['an Ingress without an address', 'ingress: { enabled: true }', /config\.web\.external_url: set it/],
    [
      'an HTTPRoute without a Gateway',
      'config: { web: { external_url: "http://a.example.org" } }\nhttpRoute: { enabled: true }',
      /httpRoute\.parentRefs: name the Gateway/,
    ],
    ['an image that nobody can pull', 'image: { repository: "" }', /image\.repository: name the registry/],
    ['both monitors', 'serviceMonitor: { enabled: true }\npodMonitor: { enabled: true }', /exclude each other/],
  ])('refuses %s', (_, values, complaint) => {
    expect(() => renderChart(helm, values.startsWith('image:') ? values : `${image}${values}`)).toThrow(complaint);
  });

  it.each([
    ['rules', 'prometheusRule', /files\/rules\.yaml has no rules/],
    ['dashboards', 'dashboards', /files\/dashboards has no dashboards/],
  ])('complains about missing %s in a copy of its folder', (_, value, complaint) => {
    const folder = makeFolder();
    const filter = (path: string): boolean => !path.endsWith('/files');
    cpSync(new URL('../../deploy/helm/automation-exporter/', import.meta.url), folder, { recursive: true, filter });
    expect(() => renderChart(helm, `${server}\n${value}: { enabled: true }`, { chart: folder })).toThrow(complaint);
  });

  it('renders the committed plain manifests (node scripts/chart/manifests.ts)', () => {
    const folder = new URL('../../deploy/kubernetes/', import.meta.url);
    const committed = readdirSync(folder).map((file) => [file, readFileSync(new URL(file, folder), 'utf8')]);
    expect(Object.fromEntries(committed)).toEqual(renderManifests(helm));
  });

  it('mounts a token without write access in the plain manifests', () => {
    const path = new URL('../../deploy/kubernetes/statefulset.yaml', import.meta.url);
    // The pod as Kubernetes reads it.
    const pod = podOf([parse(readFileSync(path, 'utf8'), { version: '1.1' }) as KubernetesObject]);
    expect(pod.volumes.flatMap(({ secret }) => secret?.defaultMode ?? [])).toEqual([0o440]);
  });
});

describeWithTools('deploy/helm, held against Kubernetes', ['helm', 'kubernetes-validate'], (tools) => {
  const cli = join(dirname(tools['kubernetes-validate']), 'kubernetes-validate');

  it.each(['1.30', '1.34'])('is valid in Kubernetes %s with every set of values', (version) => {
    const folder = makeFolder();
    const files = Object.entries(valueSets).map(([, values], index) => {
      const objects = render(tools.helm, values).filter((object) => !isCustom(object));
      const file = join(folder, `${index}.yaml`);
      writeFileSync(file, objects.map((object) => JSON.stringify(object)).join('\n---\n'));
      return file;
    });
    const plain = new URL('../../deploy/kubernetes/', import.meta.url);
    const manifests = readdirSync(plain).filter((file) => file !== 'kustomization.yaml');
    files.push(...manifests.map((file) => new URL(file, plain).pathname));
    const { status, stdout, stderr } = spawnSync(cli, ['-k', version, '--strict', '--quiet', ...files], {
      encoding: 'utf8',
    });
    expect({ status, says: `${stdout}${stderr}` }).toEqual({ status: 0, says: '' });
  });
});
