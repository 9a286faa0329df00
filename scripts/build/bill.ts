import type { Inside } from './inside.ts';

type Contents = {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly inside: readonly Inside[];
  /** The version of the Node.js that is shipped. */
  readonly node: string;
};

/** Renders the bill of materials as CycloneDX 1.6, without a date or a random number: the same sources give the same bytes. */
export function renderBill({ name, version, license, inside, node }: Contents) {
  const own = toPurl(name, version);
  const runtime = `pkg:generic/nodejs@${node}`;
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      component: { type: 'application', 'bom-ref': own, name, version, licenses: toLicenses(license), purl: own },
    },
    components: [
      // Scanners identify Node.js by this CPE.
      {
        type: 'platform',
        'bom-ref': runtime,
        name: 'nodejs',
        version: node,
        cpe: `cpe:2.3:a:nodejs:node.js:${node}:*:*:*:*:*:*:*`,
        purl: runtime,
      },
      ...inside.map((part) => ({
        type: 'library',
        'bom-ref': toPurl(part.name, part.version),
        name: part.name,
        version: part.version,
        ...(part.integrity === undefined ? {} : { hashes: [toHash(part.integrity)] }),
        licenses: toLicenses(part.license),
        purl: toPurl(part.name, part.version),
      })),
    ],
    dependencies: [{ ref: own, dependsOn: [runtime, ...inside.map((part) => toPurl(part.name, part.version))] }],
  };
}

function toPurl(name: string, version: string): string {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`;
}

function toLicenses(license: string) {
  return license.includes(' ') ? [{ expression: license }] : [{ license: { id: license } }];
}

function toHash(integrity: string) {
  const [algorithm = '', digest = ''] = integrity.split('-');
  return { alg: algorithm.replace('sha', 'SHA-'), content: Buffer.from(digest, 'base64').toString('hex') };
}
