/*! Writes docs/API.md from the docstrings of the library. */
import { writeFileSync } from 'node:fs';
import { formatApiPage } from './api/page.js';

writeFileSync('docs/API.md', formatApiPage());
