import type { Inside } from './inside.ts';

/** Licences that only have to be named, and do not extend to other code. */
const accepted = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'ISC',
  'MIT',
  'MIT-0',
]);

/** Returns packages that must not ship, with their licences. With AND, all licences must be accepted; with OR, one of them. */
export function findRefusedLicences(inside: readonly Pick<Inside, 'name' | 'license'>[]): readonly string[] {
  return inside.filter(({ license }) => !isAccepted(license)).map(({ name, license }) => `${name} (${license})`);
}

function isAccepted(license: string): boolean {
  const choices = license.replaceAll(/[()]/g, '').split(' OR ');
  return choices.some((choice) => choice.split(' AND ').every((name) => accepted.has(name.trim())));
}

/** Renders the licence texts of all bundled packages, as their authors wrote them. */
export function renderLicences(inside: readonly Inside[]): string {
  const parts = inside.map(({ name, version, license, texts }) => {
    const text = texts.length === 0 ? `The package contains no text of its licence, ${license}.` : texts.join('\n\n');
    return `${rule}\n${name} ${version} (${license})\n${rule}\n\n${text}\n`;
  });
  return `The files of automation-exporter contain code of these packages, under their licences.\n\n${parts.join('\n')}`;
}

const rule = '-'.repeat(80);
