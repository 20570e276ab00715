#!/usr/bin/env node
// Commands are linked when packages are installed. In the workspace, that is before anything is built, so this file,
// and not the built one, is what they are linked to.
import module from 'node:module';

// Since Node 22.8: what is compiled once is not compiled again at the next start. Where it cannot be kept, nothing happens.
module.enableCompileCache?.();
await import('../dist/bin.js').catch((error) => {
  if (error.code !== 'ERR_MODULE_NOT_FOUND' || !error.message.includes('dist/bin.js')) throw error;
  console.error('kopf is not built yet. At the root of the workspace: npm run build');
  process.exitCode = 1;
});
