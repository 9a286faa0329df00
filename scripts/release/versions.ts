import { readFileSync } from 'node:fs';

const top = new URL('../../', import.meta.url);

const places: readonly (readonly [string, RegExp])[] = [
  ['package.json', /"version": "([^"]+)"/],
  ['package-lock.json', /"version": "([^"]+)"/],
  ['Dockerfile', /^ARG VERSION=(.+)$/m],
  ['deploy/helm/automation-exporter/Chart.yaml', /^version: (.+)$/m],
  ['deploy/helm/automation-exporter/Chart.yaml', /^appVersion: (.+)$/m],
  ['deploy/kubernetes/statefulset.yaml', /image: \S+:(\S+)$/m],
  ['CHANGELOG.md', /^## (\d\S*)/m],
];

/** Reads the version from every file that contains it; they must be equal. */
export function readVersions(): readonly { readonly path: string; readonly version: string }[] {
  return places.map(([path, pattern]) => {
    const [, version = 'none'] = pattern.exec(readFileSync(new URL(path, top), 'utf8')) ?? [];
    return { path, version };
  });
}
