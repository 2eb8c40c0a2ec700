import { describe, expect, it } from '@jest/globals';
import { withoutFilters } from './unfiltered-sql.js';

describe('statements without their filters', () => {
  it('lose every comparison of the organization with a parameter, in each form that we write', () => {
    const gone = '($1::text IS NOT NULL OR $1::text IS NULL)';
    expect(withoutFilters('SELECT 1 FROM app.conversation c WHERE c.org_id = $1 AND c.id = $2')).toBe(
      `SELECT 1 FROM app.conversation c WHERE ${gone} AND c.id = $2`,
    );
    expect(withoutFilters('SELECT 1 FROM "app"."org" WHERE ("app"."org"."org_id" = $1 AND 1=1)')).toBe(
      `SELECT 1 FROM "app"."org" WHERE (${gone} AND 1=1)`,
    );
    expect(withoutFilters('UPDATE app.secret SET name = $2 WHERE org_id=$1')).toBe(
      `UPDATE app.secret SET name = $2 WHERE ${gone}`,
    );
    expect(withoutFilters('SELECT (SELECT 1 WHERE d.org_id = $1), 2 WHERE org_id = ANY ($2::text[])')).toBe(
      `SELECT (SELECT 1 WHERE ${gone}), 2 WHERE ($2::text[] IS NOT NULL OR $2::text[] IS NULL)`,
    );
  });

  it('keep what they write', () => {
    for (const sql of [
      'INSERT INTO app.secret (org_id) VALUES ($1) ON CONFLICT (org_id) DO NOTHING',
      'SELECT g.org_id FROM app.grant g JOIN app.org o ON o.id = g.org_id',
    ])
      expect(withoutFilters(sql)).toBe(sql);
  });
});
