import type { GiteaRepository } from '@slipway/testing/gitea';

/** The label that starts a conversation. */
export const LABEL = 'slipway';

/** A small shop whose test of the total fails: what the issue says. */
const FILES: Readonly<Record<string, string>> = {
  'README.md': `# Shop

The till of a small shop. \`npm test\` runs the tests; Node is all that they need.
`,
  'package.json': `${JSON.stringify({ name: 'shop', version: '1.0.0', private: true, type: 'module', scripts: { test: 'node --test' } }, null, 2)}\n`,
  'src/total.js': `/** What a basket costs, in cents. */
export function total(basket) {
  return basket.reduce((sum, line) => sum + line.price, 0);
}
`,
  'src/receipt.js': `import { total } from './total.js';

/** What the customer takes home, a line for each thing. */
export function receipt(basket) {
  const lines = basket.map(({ name, quantity, price }) => \`\${quantity} x \${name} \${euros(quantity * price)}\`);
  return [...lines, \`Total \${euros(total(basket))}\`].join('\\n');
}

function euros(cents) {
  return \`\${(cents / 100).toFixed(2)} EUR\`;
}
`,
  'test/total.test.js': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { total } from '../src/total.js';

test('an empty basket costs nothing', () => {
  assert.equal(total([]), 0);
});

test('each line counts as often as its quantity says', () => {
  assert.equal(total([{ name: 'apple', quantity: 3, price: 50 }, { name: 'bread', quantity: 1, price: 320 }]), 470);
});
`,
  'test/receipt.test.js': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { receipt } from '../src/receipt.js';

test('a receipt has a line for each thing', () => {
  assert.match(receipt([{ name: 'apple', quantity: 1, price: 50 }]), /1 x apple 0\\.50 EUR/);
});
`,
};

const ISSUE = {
  title: 'The total forgets the quantity',
  body: `Three apples at 0.50 EUR and a bread at 3.20 EUR cost 4.70 EUR, and the receipt says 3.70 EUR.

\`npm test\` shows it: "each line counts as often as its quantity says" fails.`,
};

export const DEMO_PROJECT = { name: 'shop', files: FILES };

/** The label and one issue to put it on. */
export async function fillProject(shop: GiteaRepository): Promise<void> {
  await shop.createLabel(LABEL);
  await shop.createIssue(ISSUE.title, ISSUE.body);
}
