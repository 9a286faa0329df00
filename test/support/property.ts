import fc from 'fast-check';

// One seed, so that two runs of the suite try the same values; PROPERTY_SEED tries others.
fc.configureGlobal({ seed: Number(process.env['PROPERTY_SEED'] ?? 1) });

export { fc };
