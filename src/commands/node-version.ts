const minMajor = 24;
const minMinor = 15;

/**
 * Returns a complaint if the version of Node.js is too old; otherwise undefined. The file must run on any version of Node.js.
 */
export function explainOldNode(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > minMajor || (major === minMajor && minor >= minMinor)) return undefined;
  return `automation-exporter needs Node ${minMajor}.${minMinor} or newer, and this is ${version}; npx installs the right one`;
}
