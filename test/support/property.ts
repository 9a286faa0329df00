import fc from 'fast-check';

// A fixed seed gives the same values in each run; PROPERTY_SEED selects another seed.
fc.configureGlobal({ seed: Number(process.env['PROPERTY_SEED'] ?? 1) });

export { fc };
