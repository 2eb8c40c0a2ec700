import fs from 'node:fs';import path from 'node:path';
const refs=[];
for(const d of ['libs','apps'])for(const n of fs.readdirSync(d)){const dir=`${d}/${n}`;if(!fs.existsSync(dir+'/package.json')||n==='web')continue;
 const pj=JSON.parse(fs.readFileSync(dir+'/package.json'));const deps=Object.keys({...pj.dependencies,...pj.devDependencies}).filter(x=>x.startsWith('@slipway/')).map(x=>x.slice(9));
 const ts={extends:'../../tsconfig.base.json',compilerOptions:{rootDir:'src',outDir:'dist',tsBuildInfoFile:'dist/.tsbuildinfo',...(n==='ui'?{jsx:'react-jsx',lib:['ES2024','DOM','DOM.Iterable'],module:'ESNext',moduleResolution:'bundler'}:n==='api-client'?{lib:['ES2024','DOM','DOM.Iterable']}:{})},include:['src'],references:deps.map(x=>({path:`../../libs/${x}`}))};
 fs.writeFileSync(dir+'/tsconfig.json',JSON.stringify(ts,null,2)+'\n');refs.push({path:dir});}
fs.writeFileSync('tsconfig.json',JSON.stringify({files:[],references:refs},null,2)+'\n');
