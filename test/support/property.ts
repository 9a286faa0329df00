import fc from 'fast-check';

// With a fixed seed, two runs of the suite try the same values; PROPERTY_SEED selects another seed.
fc.configureGlobal({ seed: Number(process.env['PROPERTY_SEED'] ?? 1) });

export { fc };
