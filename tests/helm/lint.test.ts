import { expect, it } from '@jest/globals';
import { missingForHelm, openHelm } from '@slipway/testing/helm';
import { describeUnless } from '@slipway/testing/jest';
import { CHART, helm, run } from './chart.ts';

describeUnless(missingForHelm())('the chart', () => {
  it('has nothing that helm lint finds wrong', async () => {
    const { code, said } = await helm(['lint', '--strict', CHART]);
    expect([code, code === 0 ? '' : said]).toEqual([0, '']);
    expect(said).not.toContain('[WARNING]');
  });

  it('is what its unit tests say', async () => {
    const { code, said } = await run((await openHelm()).unittest, ['--strict', CHART]);
    expect([code, code === 0 ? '' : said]).toEqual([0, '']);
    expect(said).toMatch(/Tests: +[1-9]\d* passed/);
  });
});
