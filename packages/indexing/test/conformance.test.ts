import { testIndexer } from '@kopf-ts/testing';
import { describe, it } from 'vitest';
import { memoryIndexer } from '../src/index.js';

testIndexer(memoryIndexer, { describe, it });
