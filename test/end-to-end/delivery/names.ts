import dns, { type LookupAddress } from 'node:dns';
import { readFileSync } from 'node:fs';

/** The name of the collector. */
export const collectorName = 'collector.example.org';

type Lookup = (
  name: string,
  options: { readonly all?: boolean },
  done: (error: Error | null, address?: string | LookupAddress[], family?: number) => void,
) => void;

/** Resolves the name of the collector with a file, if the file exists. */
export function followNames(addressFile: string): void {
  const lookup: Lookup = (name, { all }, done) => {
    const address = read(addressFile);
    if (name !== collectorName || address === undefined) {
      const error = Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND', hostname: name });
      process.nextTick(done, error);
    } else if (all === true) process.nextTick(done, null, [{ address, family: 4 }]);
    else process.nextTick(done, null, address, 4);
  };
  Object.assign(dns, { lookup });
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return undefined;
  }
}
