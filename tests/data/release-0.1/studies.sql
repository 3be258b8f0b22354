SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;
SET default_tablespace = '';
SET default_table_access_method = heap;
CREATE TABLE paretopick_checkpoints (
    study_id integer NOT NULL,
    state json NOT NULL
);
CREATE TABLE paretopick_events (
    study_id integer NOT NULL,
    "position" integer NOT NULL,
    kind character varying(16) NOT NULL,
    number integer,
    arm integer,
    round integer,
    measured json,
    details json,
    worker text,
    at double precision NOT NULL
);
CREATE TABLE paretopick_leases (
    study_id integer NOT NULL,
    number integer NOT NULL,
    arm integer NOT NULL,
    round integer NOT NULL,
    worker text NOT NULL,
    expires double precision,
    withdrawn boolean NOT NULL
);
CREATE TABLE paretopick_studies (
    id integer NOT NULL,
    name text NOT NULL,
    definition json NOT NULL,
    created double precision NOT NULL,
    n_events integer NOT NULL,
    next_number integer NOT NULL
);
CREATE SEQUENCE paretopick_studies_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE paretopick_studies_id_seq OWNED BY paretopick_studies.id;
CREATE TABLE paretopick_version (
    version_num character varying(32) NOT NULL
);
ALTER TABLE ONLY paretopick_studies ALTER COLUMN id SET DEFAULT nextval('paretopick_studies_id_seq'::regclass);
INSERT INTO paretopick_checkpoints VALUES (1, '{"format": [2, 3], "position": 40, "policy": {"format": 3, "policy": "ege-sr", "n_arms": 5, "n_objectives": 2, "budget": 60, "options": {"spend": "all"}, "round": 2, "counts": [7, 7, 7, 7, 5], "sums": [[63.08080673796879, -63.0], [36.75492120585976, -14.0], [19.671266475076525, -56.0], [5.661899834470799, -7.0], [9.187867055453312, -37.5]], "due": [1, 1, 1, 1, 0], "left_in": [0, 0, 0, 0, 1], "accepted": [false, false, false, false, false], "retired": [false, false, false, false, true], "given_up": [0, 0, 0, 0, 0], "certain": [[0.0, -9.0], [0.0, -2.0], [0.0, -8.0], [0.0, -1.0], [0.0, -7.5]], "widths": [0.49562593968841945, 0.0], "gaps": [7.588062869884461, 4.9241210133833295, 4.9241210133833295, 8.962122117145707, null], "more": {}}, "failed": 1, "voided": [], "retired": [[4, "no longer made"]], "counts": [7, 7, 7, 7, 5], "first": [[9.25, 9.0], [5.5, 2.0], [2.130866800751559, 8.0], [0.5990342873732764, 1.0], [2.526557877243379, 7.5]], "sums": [[-1.6691932620312127, 0.0], [-1.7450787941402455, 0.0], [4.755198869815612, 0.0], [1.4686598228578633, 0.0], [-3.444922330763585, 0.0]], "products": [[[0.7237078582084031, 0.0], [0.0, 0.0]], [[1.3557221660773568, 0.0], [0.0, 0.0]], [[5.35843285873923, 0.0], [0.0, 0.0]], [[1.968398610406131, 0.0], [0.0, 0.0]], [[4.216781942507398, 0.0], [0.0, 0.0]]], "binary": [[false, false], [false, false], [false, false], [false, true], [false, false]], "kept": [], "late": [1, [1, 2, 3]]}');
INSERT INTO paretopick_checkpoints VALUES (2, '{"format": [2, 3], "position": 40, "policy": {"format": 3, "policy": "ege-sh", "n_arms": 5, "n_objectives": 2, "budget": 70, "options": {"spend": "all"}, "round": 2, "counts": [4, 11, 9, 4, 5], "sums": [[35.80092638085604, -36.0], [54.68989052152338, -22.0], [27.40351922704252, -72.0], [3.7247624084028796, -4.0], [8.737662771004365, -37.5]], "due": [0, 1, 2, 0, 0], "left_in": [1, 0, 0, 1, 2], "accepted": [true, false, false, true, false], "retired": [false, false, false, false, true], "given_up": [0, 0, 1, 0, 0], "certain": [[0.0, -9.0], [0.0, -2.0], [0.0, -8.0], [0.0, -1.0], [0.0, -7.5]], "widths": [0.5, 0.0], "gaps": [7.744368539386031, 4.386837012747624, 4.386837012747624, 8.293713446840549, 6.875773186577465], "more": {}}, "failed": 1, "voided": [4], "retired": [[4, "no longer made"]], "counts": [4, 11, 9, 4, 5], "first": [[9.25, 9.0], [5.5, 2.0], [2.130866800751559, 8.0], [0.5990342873732764, 1.0], [2.526557877243379, 7.5]], "sums": [[-1.1990736191439595, 0.0], [-5.810109478476624, 0.0], [8.225718020278487, 0.0], [1.3286252589097738, 0.0], [-3.895126615212533, 0.0]], "products": [[[0.5215585660029077, 0.0], [0.0, 0.0]], [[5.846290856049906, 0.0], [0.0, 0.0]], [[10.412482040805605, 0.0], [0.0, 0.0]], [[0.8973991530442421, 0.0], [0.0, 0.0]], [[4.328825086792267, 0.0], [0.0, 0.0]]], "binary": [[false, false], [false, false], [false, false], [false, true], [false, false]], "kept": [], "late": [1, [1, 2, 3]]}');
INSERT INTO paretopick_checkpoints VALUES (3, '{"format": [2, 3], "position": 40, "policy": {"format": 3, "policy": "apt", "n_arms": 5, "n_objectives": 2, "budget": 61, "options": {"batch": 4}, "round": 6, "counts": [3, 12, 11, 3, 3], "sums": [[27.017096383626594, -27.0], [59.733735761688315, -24.0], [33.35600424907257, -88.0], [2.5453757044009224, -3.0], [5.25945214128107, -22.5]], "due": [0, 1, 1, 0, 0], "left_in": [0, 0, 0, 0, 4], "accepted": [false, false, false, false, false], "retired": [false, false, false, false, true], "given_up": [0, 0, 0, 0, 0], "certain": [[0.0, -9.0], [0.0, -2.0], [0.0, -8.0], [0.0, -1.0], [0.0, -7.5]], "widths": [0.5228743452942961, 0.0], "gaps": [7.621193248199466, 3.5666305500010997, 3.5666305500010997, 7.8124008455892335, 6.4809750843899705], "more": {}}, "failed": 1, "voided": [4], "retired": [[4, "no longer made"]], "counts": [3, 12, 11, 3, 3], "first": [[9.25, 9.0], [5.5, 2.0], [2.130866800751559, 8.0], [0.5990342873732764, 1.0], [2.526557877243379, 7.5]], "sums": [[-0.7329036163734077, 0.0], [-6.266264238311682, 0.0], [9.916469440805423, 0.0], [0.7482728422810931, 0.0], [-2.320221490449068, 0.0]], "products": [[[0.3042440945198115, 0.0], [0.0, 0.0]], [[6.6573081682414905, 0.0], [0.0, 0.0]], [[11.526472971218118, 0.0], [0.0, 0.0]], [[0.5605902255574924, 0.0], [0.0, 0.0]], [[2.7051237444996135, 0.0], [0.0, 0.0]]], "binary": [[false, false], [false, false], [false, false], [false, true], [false, false]], "kept": [], "late": [1, [1, 2, 3]]}');
INSERT INTO paretopick_events VALUES (1, 1, 'imported', NULL, NULL, NULL, NULL, '{"rows": 3, "digest": "1169aaca7d6b7ebd360a4b41479793b7ca524cbc7ece7b14aa28379f04f1e99f"}', NULL, 1794826812.313797);
INSERT INTO paretopick_events VALUES (1, 2, 'told', 1, 0, NULL, '[9.25, 9.0]', NULL, NULL, 1794826812.313797);
INSERT INTO paretopick_events VALUES (1, 3, 'told', 2, 1, NULL, '[5.5, 2.0]', NULL, NULL, 1794826812.313797);
INSERT INTO paretopick_events VALUES (1, 4, 'told', 3, 0, NULL, '[8.75, 9.0]', NULL, NULL, 1794826812.313797);
INSERT INTO paretopick_events VALUES (1, 5, 'told', 4, 2, 1, '[2.674104423694155, 8.0]', NULL, 'w', 1794826812.324109);
INSERT INTO paretopick_events VALUES (1, 6, 'told', 5, 3, 1, '[0.5990342873732764, 1.0]', NULL, 'w', 1794826812.3278);
INSERT INTO paretopick_events VALUES (1, 7, 'told', 6, 4, 1, '[2.526557877243379, 7.5]', NULL, 'w', 1794826812.330539);
INSERT INTO paretopick_events VALUES (1, 8, 'told', 7, 1, 1, '[5.000615076678741, 2.0]', NULL, 'w', 1794826812.338041);
INSERT INTO paretopick_events VALUES (1, 9, 'told', 8, 2, 1, '[2.130866800751559, 8.0]', NULL, 'w', 1794826812.34062);
INSERT INTO paretopick_events VALUES (1, 10, 'told', 9, 3, 1, '[0.5985815320085617, 1.0]', NULL, 'w', 1794826812.343081);
INSERT INTO paretopick_events VALUES (1, 11, 'told', 10, 4, 1, '[1.4483307754672339, 7.5]', NULL, 'w', 1794826812.348379);
INSERT INTO paretopick_events VALUES (1, 12, 'told', 11, 0, 1, '[9.017096383626592, 9.0]', NULL, 'w', 1794826812.350778);
INSERT INTO paretopick_events VALUES (1, 13, 'told', 12, 1, 1, '[4.996586610067238, 2.0]', NULL, 'w', 1794826812.35301);
INSERT INTO paretopick_events VALUES (1, 14, 'told', 13, 2, 1, '[3.9133782799787116, 8.0]', NULL, 'w', 1794826812.358228);
INSERT INTO paretopick_events VALUES (1, 15, 'told', 14, 3, 1, '[1.3477598850190842, 1.0]', NULL, 'w', 1794826812.360951);
INSERT INTO paretopick_events VALUES (1, 16, 'told', 15, 4, 1, '[1.2845634885704564, 7.5]', NULL, 'w', 1794826812.363211);
INSERT INTO paretopick_events VALUES (1, 17, 'failed', 16, 0, 1, NULL, '{"why": "the tube broke", "output": "glass"}', 'w', 1794826812.367154);
INSERT INTO paretopick_events VALUES (1, 18, 'told', 17, 0, 1, '[99.0, 9.0]', NULL, 'w', 1794826812.370773);
INSERT INTO paretopick_events VALUES (1, 19, 'voided', 17, 0, 1, '[99.0, 9.0]', '{"why": "wrong dose"}', 'w', 1794826812.372883);
INSERT INTO paretopick_events VALUES (1, 20, 'told', 18, 0, 1, '[8.783829997229448, 9.0]', NULL, 'w', 1794826812.378584);
INSERT INTO paretopick_events VALUES (1, 21, 'told', 19, 1, 1, '[4.814987615337998, 2.0]', NULL, 'w', 1794826812.380747);
INSERT INTO paretopick_events VALUES (1, 22, 'told', 20, 2, 1, '[2.8201657721643048, 8.0]', NULL, 'w', 1794826812.384047);
INSERT INTO paretopick_events VALUES (1, 23, 'told', 21, 3, 1, '[1.179386704001957, 1.0]', NULL, 'w', 1794826812.388659);
INSERT INTO paretopick_events VALUES (1, 24, 'told', 22, 4, 1, '[1.3011907876479785, 7.5]', NULL, 'w', 1794826812.390696);
INSERT INTO paretopick_events VALUES (1, 25, 'told', 23, 0, 1, '[9.27663029444437, 9.0]', NULL, 'w', 1794826812.392681);
INSERT INTO paretopick_events VALUES (1, 26, 'told', 24, 1, 1, '[5.6753736616652795, 2.0]', NULL, 'w', 1794826812.397202);
INSERT INTO paretopick_events VALUES (1, 27, 'told', 25, 2, 1, '[3.1770198420753153, 8.0]', NULL, 'w', 1794826812.399374);
INSERT INTO paretopick_events VALUES (1, 28, 'told', 26, 3, 1, '[0.0374677509480964, 1.0]', NULL, 'w', 1794826812.401443);
INSERT INTO paretopick_events VALUES (1, 29, 'told', 27, 4, 1, '[2.627224126524263, 7.5]', NULL, 'w', 1794826812.405808);
INSERT INTO paretopick_events VALUES (1, 30, 'voided', 4, 2, 1, '[2.674104423694155, 8.0]', '{"why": "mixed up"}', 'w', 1794826812.407883);
INSERT INTO paretopick_events VALUES (1, 31, 'retired', NULL, 4, NULL, NULL, '{"why": "no longer made"}', NULL, 1794826812.41045);
INSERT INTO paretopick_events VALUES (1, 32, 'told', 28, 2, 1, '[2.3965752568166128, 8.0]', NULL, 'w', 1794826812.414651);
INSERT INTO paretopick_events VALUES (1, 33, 'told', 29, 0, 1, '[8.804065079036391, 9.0]', NULL, 'w', 1794826812.416837);
INSERT INTO paretopick_events VALUES (1, 34, 'told', 30, 1, 1, '[5.787320571584065, 2.0]', NULL, 'w', 1794826812.418925);
INSERT INTO paretopick_events VALUES (1, 35, 'told', 31, 2, 1, '[2.802349355706715, 8.0]', NULL, 'w', 1794826812.423676);
INSERT INTO paretopick_events VALUES (1, 36, 'told', 32, 3, 1, '[1.4545726063601192, 1.0]', NULL, 'w', 1794826812.425777);
INSERT INTO paretopick_events VALUES (1, 37, 'told', 33, 0, 1, '[9.199184983631985, 9.0]', NULL, 'w', 1794826812.427899);
INSERT INTO paretopick_events VALUES (1, 38, 'told', 34, 1, 1, '[4.980037670526433, 2.0]', NULL, 'w', 1794826812.43224);
INSERT INTO paretopick_events VALUES (1, 39, 'told', 35, 2, 1, '[2.430911167583306, 8.0]', NULL, 'w', 1794826812.434359);
INSERT INTO paretopick_events VALUES (1, 40, 'told', 36, 3, 1, '[0.445097068759703, 1.0]', NULL, 'w', 1794826812.438589);
INSERT INTO paretopick_events VALUES (1, 41, 'told', 37, 0, 2, '[9.449951550063176, 9.0]', NULL, 'w', 1794826812.444345);
INSERT INTO paretopick_events VALUES (1, 42, 'told', 38, 1, 2, '[5.7228724146047325, 2.0]', NULL, 'w', 1794826812.446443);
INSERT INTO paretopick_events VALUES (1, 43, 'told', 39, 2, 2, '[3.0127507774224473, 8.0]', NULL, 'w', 1794826812.448602);
INSERT INTO paretopick_events VALUES (1, 44, 'told', 40, 3, 2, '[0.4289538471372104, 1.0]', NULL, 'w', 1794826812.452769);
INSERT INTO paretopick_events VALUES (1, 45, 'told', 41, 0, 3, '[8.384167515542611, 9.0]', NULL, 'w', 1794826812.457454);
INSERT INTO paretopick_events VALUES (2, 1, 'imported', NULL, NULL, NULL, NULL, '{"rows": 3, "digest": "1169aaca7d6b7ebd360a4b41479793b7ca524cbc7ece7b14aa28379f04f1e99f"}', NULL, 1794826812.507194);
INSERT INTO paretopick_events VALUES (2, 2, 'told', 1, 0, NULL, '[9.25, 9.0]', NULL, NULL, 1794826812.507194);
INSERT INTO paretopick_events VALUES (2, 3, 'told', 2, 1, NULL, '[5.5, 2.0]', NULL, NULL, 1794826812.507194);
INSERT INTO paretopick_events VALUES (2, 4, 'told', 3, 0, NULL, '[8.75, 9.0]', NULL, NULL, 1794826812.507194);
INSERT INTO paretopick_events VALUES (2, 5, 'told', 4, 2, 1, '[2.674104423694155, 8.0]', NULL, 'w', 1794826812.528697);
INSERT INTO paretopick_events VALUES (2, 6, 'told', 5, 3, 1, '[0.5990342873732764, 1.0]', NULL, 'w', 1794826812.535809);
INSERT INTO paretopick_events VALUES (2, 7, 'told', 6, 4, 1, '[2.526557877243379, 7.5]', NULL, 'w', 1794826812.540757);
INSERT INTO paretopick_events VALUES (2, 8, 'told', 7, 1, 1, '[5.000615076678741, 2.0]', NULL, 'w', 1794826812.549796);
INSERT INTO paretopick_events VALUES (2, 9, 'told', 8, 2, 1, '[2.130866800751559, 8.0]', NULL, 'w', 1794826812.5537);
INSERT INTO paretopick_events VALUES (2, 10, 'told', 9, 3, 1, '[0.5985815320085617, 1.0]', NULL, 'w', 1794826812.557122);
INSERT INTO paretopick_events VALUES (2, 11, 'told', 10, 4, 1, '[1.4483307754672339, 7.5]', NULL, 'w', 1794826812.562448);
INSERT INTO paretopick_events VALUES (2, 12, 'told', 11, 0, 1, '[9.017096383626592, 9.0]', NULL, 'w', 1794826812.56486);
INSERT INTO paretopick_events VALUES (2, 13, 'told', 12, 1, 1, '[4.996586610067238, 2.0]', NULL, 'w', 1794826812.567044);
INSERT INTO paretopick_events VALUES (2, 14, 'told', 13, 2, 1, '[3.9133782799787116, 8.0]', NULL, 'w', 1794826812.571997);
INSERT INTO paretopick_events VALUES (2, 15, 'told', 14, 3, 1, '[1.3477598850190842, 1.0]', NULL, 'w', 1794826812.574197);
INSERT INTO paretopick_events VALUES (2, 16, 'told', 15, 4, 1, '[1.2845634885704564, 7.5]', NULL, 'w', 1794826812.576558);
INSERT INTO paretopick_events VALUES (2, 17, 'failed', 16, 0, 1, NULL, '{"why": "the tube broke", "output": "glass"}', 'w', 1794826812.580687);
INSERT INTO paretopick_events VALUES (2, 18, 'told', 17, 0, 1, '[99.0, 9.0]', NULL, 'w', 1794826812.584496);
INSERT INTO paretopick_events VALUES (2, 19, 'voided', 17, 0, 1, '[99.0, 9.0]', '{"why": "wrong dose"}', 'w', 1794826812.586659);
INSERT INTO paretopick_events VALUES (2, 20, 'told', 18, 0, 1, '[8.783829997229448, 9.0]', NULL, 'w', 1794826812.593974);
INSERT INTO paretopick_events VALUES (2, 21, 'told', 19, 1, 1, '[4.814987615337998, 2.0]', NULL, 'w', 1794826812.597054);
INSERT INTO paretopick_events VALUES (2, 22, 'told', 20, 2, 1, '[2.8201657721643048, 8.0]', NULL, 'w', 1794826812.602134);
INSERT INTO paretopick_events VALUES (2, 23, 'told', 21, 3, 1, '[1.179386704001957, 1.0]', NULL, 'w', 1794826812.608951);
INSERT INTO paretopick_events VALUES (2, 24, 'told', 22, 4, 1, '[1.3011907876479785, 7.5]', NULL, 'w', 1794826812.612278);
INSERT INTO paretopick_events VALUES (2, 25, 'told', 23, 1, 2, '[5.276630294444369, 2.0]', NULL, 'w', 1794826812.619247);
INSERT INTO paretopick_events VALUES (2, 26, 'told', 24, 2, 2, '[3.6753736616652795, 8.0]', NULL, 'w', 1794826812.622453);
INSERT INTO paretopick_events VALUES (2, 27, 'told', 25, 4, 2, '[2.1770198420753153, 7.5]', NULL, 'w', 1794826812.625501);
INSERT INTO paretopick_events VALUES (2, 28, 'told', 26, 1, 2, '[4.037467750948096, 2.0]', NULL, 'w', 1794826812.631998);
INSERT INTO paretopick_events VALUES (2, 29, 'told', 27, 2, 2, '[3.627224126524263, 8.0]', NULL, 'w', 1794826812.635088);
INSERT INTO paretopick_events VALUES (2, 30, 'voided', 4, 2, 1, '[2.674104423694155, 8.0]', '{"why": "mixed up"}', 'w', 1794826812.637949);
INSERT INTO paretopick_events VALUES (2, 31, 'retired', NULL, 4, NULL, NULL, '{"why": "no longer made"}', NULL, 1794826812.641593);
INSERT INTO paretopick_events VALUES (2, 32, 'told', 28, 1, 2, '[4.396575256816613, 2.0]', NULL, 'w', 1794826812.647266);
INSERT INTO paretopick_events VALUES (2, 33, 'told', 29, 2, 2, '[2.8040650790363912, 8.0]', NULL, 'w', 1794826812.650514);
INSERT INTO paretopick_events VALUES (2, 34, 'told', 30, 1, 2, '[5.787320571584065, 2.0]', NULL, 'w', 1794826812.65376);
INSERT INTO paretopick_events VALUES (2, 35, 'told', 31, 2, 2, '[2.802349355706715, 8.0]', NULL, 'w', 1794826812.660331);
INSERT INTO paretopick_events VALUES (2, 36, 'told', 32, 1, 2, '[5.454572606360119, 2.0]', NULL, 'w', 1794826812.663569);
INSERT INTO paretopick_events VALUES (2, 37, 'told', 33, 2, 2, '[3.1991849836319863, 8.0]', NULL, 'w', 1794826812.666885);
INSERT INTO paretopick_events VALUES (2, 38, 'told', 34, 1, 2, '[4.980037670526433, 2.0]', NULL, 'w', 1794826812.673735);
INSERT INTO paretopick_events VALUES (2, 39, 'told', 35, 2, 2, '[2.430911167583306, 8.0]', NULL, 'w', 1794826812.676044);
INSERT INTO paretopick_events VALUES (2, 40, 'told', 36, 1, 2, '[4.445097068759703, 2.0]', NULL, 'w', 1794826812.680737);
INSERT INTO paretopick_events VALUES (2, 41, 'told', 37, 2, 2, '[3.4499515500631763, 8.0]', NULL, 'w', 1794826812.683024);
INSERT INTO paretopick_events VALUES (2, 42, 'told', 38, 1, 2, '[5.7228724146047325, 2.0]', NULL, 'w', 1794826812.686129);
INSERT INTO paretopick_events VALUES (2, 43, 'told', 39, 2, 2, '[3.0127507774224473, 8.0]', NULL, 'w', 1794826812.690684);
INSERT INTO paretopick_events VALUES (2, 44, 'told', 40, 1, 3, '[4.42895384713721, 2.0]', NULL, 'w', 1794826812.69663);
INSERT INTO paretopick_events VALUES (2, 45, 'told', 41, 2, 3, '[2.3841675155426114, 8.0]', NULL, 'w', 1794826812.699258);
INSERT INTO paretopick_events VALUES (3, 1, 'imported', NULL, NULL, NULL, NULL, '{"rows": 3, "digest": "1169aaca7d6b7ebd360a4b41479793b7ca524cbc7ece7b14aa28379f04f1e99f"}', NULL, 1794826812.720579);
INSERT INTO paretopick_events VALUES (3, 2, 'told', 1, 0, NULL, '[9.25, 9.0]', NULL, NULL, 1794826812.720579);
INSERT INTO paretopick_events VALUES (3, 3, 'told', 2, 1, NULL, '[5.5, 2.0]', NULL, NULL, 1794826812.720579);
INSERT INTO paretopick_events VALUES (3, 4, 'told', 3, 0, NULL, '[8.75, 9.0]', NULL, NULL, 1794826812.720579);
INSERT INTO paretopick_events VALUES (3, 5, 'told', 4, 2, 1, '[2.674104423694155, 8.0]', NULL, 'w', 1794826812.729656);
INSERT INTO paretopick_events VALUES (3, 6, 'told', 5, 3, 1, '[0.5990342873732764, 1.0]', NULL, 'w', 1794826812.733165);
INSERT INTO paretopick_events VALUES (3, 7, 'told', 6, 4, 1, '[2.526557877243379, 7.5]', NULL, 'w', 1794826812.73591);
INSERT INTO paretopick_events VALUES (3, 8, 'told', 7, 1, 1, '[5.000615076678741, 2.0]', NULL, 'w', 1794826812.741639);
INSERT INTO paretopick_events VALUES (3, 9, 'told', 8, 2, 1, '[2.130866800751559, 8.0]', NULL, 'w', 1794826812.744461);
INSERT INTO paretopick_events VALUES (3, 10, 'told', 9, 3, 1, '[0.5985815320085617, 1.0]', NULL, 'w', 1794826812.747086);
INSERT INTO paretopick_events VALUES (3, 11, 'told', 10, 4, 1, '[1.4483307754672339, 7.5]', NULL, 'w', 1794826812.752634);
INSERT INTO paretopick_events VALUES (3, 12, 'told', 11, 0, 1, '[9.017096383626592, 9.0]', NULL, 'w', 1794826812.76372);
INSERT INTO paretopick_events VALUES (3, 13, 'told', 12, 1, 1, '[4.996586610067238, 2.0]', NULL, 'w', 1794826812.771633);
INSERT INTO paretopick_events VALUES (3, 14, 'told', 13, 2, 1, '[3.9133782799787116, 8.0]', NULL, 'w', 1794826812.781975);
INSERT INTO paretopick_events VALUES (3, 15, 'told', 14, 3, 1, '[1.3477598850190842, 1.0]', NULL, 'w', 1794826812.784705);
INSERT INTO paretopick_events VALUES (3, 16, 'told', 15, 4, 1, '[1.2845634885704564, 7.5]', NULL, 'w', 1794826812.787028);
INSERT INTO paretopick_events VALUES (3, 17, 'failed', 16, 1, 2, NULL, '{"why": "the tube broke", "output": "glass"}', 'w', 1794826812.79155);
INSERT INTO paretopick_events VALUES (3, 18, 'told', 17, 1, 2, '[99.0, 2.0]', NULL, 'w', 1794826812.795196);
INSERT INTO paretopick_events VALUES (3, 19, 'voided', 17, 1, 2, '[99.0, 2.0]', '{"why": "wrong dose"}', 'w', 1794826812.797517);
INSERT INTO paretopick_events VALUES (3, 20, 'told', 18, 1, 2, '[4.783829997229449, 2.0]', NULL, 'w', 1794826812.803162);
INSERT INTO paretopick_events VALUES (3, 21, 'told', 19, 2, 2, '[2.8149876153379982, 8.0]', NULL, 'w', 1794826812.805366);
INSERT INTO paretopick_events VALUES (3, 22, 'told', 20, 1, 2, '[4.820165772164305, 2.0]', NULL, 'w', 1794826812.808814);
INSERT INTO paretopick_events VALUES (3, 23, 'told', 21, 2, 2, '[3.179386704001957, 8.0]', NULL, 'w', 1794826812.813277);
INSERT INTO paretopick_events VALUES (3, 24, 'told', 22, 1, 3, '[4.301190787647979, 2.0]', NULL, 'w', 1794826812.81845);
INSERT INTO paretopick_events VALUES (3, 25, 'told', 23, 2, 3, '[3.2766302944443693, 8.0]', NULL, 'w', 1794826812.82069);
INSERT INTO paretopick_events VALUES (3, 26, 'told', 24, 1, 3, '[5.6753736616652795, 2.0]', NULL, 'w', 1794826812.822817);
INSERT INTO paretopick_events VALUES (3, 27, 'told', 25, 2, 3, '[3.1770198420753153, 8.0]', NULL, 'w', 1794826812.827403);
INSERT INTO paretopick_events VALUES (3, 28, 'told', 26, 1, 4, '[4.037467750948096, 2.0]', NULL, 'w', 1794826812.832411);
INSERT INTO paretopick_events VALUES (3, 29, 'told', 27, 2, 4, '[3.627224126524263, 8.0]', NULL, 'w', 1794826812.834552);
INSERT INTO paretopick_events VALUES (3, 30, 'voided', 4, 2, 1, '[2.674104423694155, 8.0]', '{"why": "mixed up"}', 'w', 1794826812.836686);
INSERT INTO paretopick_events VALUES (3, 31, 'retired', NULL, 4, NULL, NULL, '{"why": "no longer made"}', NULL, 1794826812.839351);
INSERT INTO paretopick_events VALUES (3, 32, 'told', 28, 1, 4, '[4.396575256816613, 2.0]', NULL, 'w', 1794826812.843348);
INSERT INTO paretopick_events VALUES (3, 33, 'told', 29, 2, 4, '[2.8040650790363912, 8.0]', NULL, 'w', 1794826812.845518);
INSERT INTO paretopick_events VALUES (3, 34, 'told', 30, 1, 5, '[5.787320571584065, 2.0]', NULL, 'w', 1794826812.851985);
INSERT INTO paretopick_events VALUES (3, 35, 'told', 31, 2, 5, '[2.802349355706715, 8.0]', NULL, 'w', 1794826812.854166);
INSERT INTO paretopick_events VALUES (3, 36, 'told', 32, 1, 5, '[5.454572606360119, 2.0]', NULL, 'w', 1794826812.856435);
INSERT INTO paretopick_events VALUES (3, 37, 'told', 33, 2, 5, '[3.1991849836319863, 8.0]', NULL, 'w', 1794826812.860737);
INSERT INTO paretopick_events VALUES (3, 38, 'told', 34, 1, 6, '[4.980037670526433, 2.0]', NULL, 'w', 1794826812.86561);
INSERT INTO paretopick_events VALUES (3, 39, 'told', 35, 2, 6, '[2.430911167583306, 8.0]', NULL, 'w', 1794826812.867908);
INSERT INTO paretopick_events VALUES (3, 40, 'extended', NULL, NULL, NULL, NULL, '{"budget": 61}', NULL, 1794826812.869951);
INSERT INTO paretopick_events VALUES (3, 41, 'told', 36, 1, 6, '[4.445097068759703, 2.0]', NULL, 'w', 1794826812.875331);
INSERT INTO paretopick_events VALUES (3, 42, 'told', 37, 2, 6, '[3.4499515500631763, 8.0]', NULL, 'w', 1794826812.87754);
INSERT INTO paretopick_events VALUES (3, 43, 'told', 38, 1, 7, '[5.7228724146047325, 2.0]', NULL, 'w', 1794826812.882399);
INSERT INTO paretopick_events VALUES (3, 44, 'told', 39, 2, 7, '[3.0127507774224473, 8.0]', NULL, 'w', 1794826812.884633);
INSERT INTO paretopick_events VALUES (3, 45, 'told', 40, 1, 7, '[4.42895384713721, 2.0]', NULL, 'w', 1794826812.886714);
INSERT INTO paretopick_events VALUES (3, 46, 'told', 41, 2, 7, '[2.3841675155426114, 8.0]', NULL, 'w', 1794826812.891187);
INSERT INTO paretopick_events VALUES (4, 1, 'told', 1, 0, 1, '[2.0]', NULL, 'main', 1794826812.929819);
INSERT INTO paretopick_events VALUES (4, 2, 'told', 2, 1, 1, '[4.0]', NULL, 'main', 1794826812.936889);
INSERT INTO paretopick_events VALUES (4, 3, 'told', 3, 0, 1, '[1.0]', NULL, 'main', 1794826812.942679);
INSERT INTO paretopick_events VALUES (4, 4, 'told', 4, 1, 1, '[3.0]', NULL, 'main', 1794826812.948041);
INSERT INTO paretopick_events VALUES (4, 5, 'told', 5, 0, 1, '[3.0]', NULL, 'main', 1794826812.953349);
INSERT INTO paretopick_events VALUES (4, 6, 'told', 6, 1, 1, '[2.0]', NULL, 'main', 1794826812.958719);
INSERT INTO paretopick_events VALUES (4, 7, 'told', 7, 0, 1, '[2.0]', NULL, 'main', 1794826812.963864);
INSERT INTO paretopick_events VALUES (4, 8, 'told', 8, 1, 1, '[4.0]', NULL, 'main', 1794826812.968909);
INSERT INTO paretopick_events VALUES (4, 9, 'told', 9, 0, 1, '[1.0]', NULL, 'main', 1794826812.973914);
INSERT INTO paretopick_events VALUES (4, 10, 'told', 10, 1, 1, '[3.0]', NULL, 'main', 1794826812.978997);
INSERT INTO paretopick_events VALUES (4, 11, 'told', 11, 0, 1, '[3.0]', NULL, 'main', 1794826812.983952);
INSERT INTO paretopick_events VALUES (4, 12, 'told', 12, 1, 1, '[2.0]', NULL, 'main', 1794826812.98866);
INSERT INTO paretopick_leases VALUES (1, 42, 1, 3, 'laboratory', NULL, false);
INSERT INTO paretopick_leases VALUES (1, 43, 2, 3, 'laboratory', NULL, false);
INSERT INTO paretopick_leases VALUES (1, 44, 0, 3, 'late', 1794826812.4622269, false);
INSERT INTO paretopick_leases VALUES (2, 42, 1, 3, 'laboratory', NULL, false);
INSERT INTO paretopick_leases VALUES (2, 43, 2, 3, 'laboratory', NULL, false);
INSERT INTO paretopick_leases VALUES (2, 44, 1, 3, 'late', 1794826812.704733, false);
INSERT INTO paretopick_leases VALUES (3, 42, 0, 8, 'laboratory', NULL, false);
INSERT INTO paretopick_leases VALUES (3, 43, 1, 8, 'laboratory', NULL, false);
INSERT INTO paretopick_leases VALUES (3, 44, 2, 8, 'late', 1794826812.8965619, false);
INSERT INTO paretopick_studies VALUES (3, 'anytime', '{"options": ["a", "b", "c", "d", "e"], "settings": [{}, {}, {}, {}, {}], "metrics": {"quality": "max", "cost": "min"}, "exact": ["cost"], "budget": 50, "policy": "apt", "policy_options": {"batch": 4}, "scale": "noise", "command": []}', 1794826812.7154305, 46, 45);
INSERT INTO paretopick_studies VALUES (2, 'halves', '{"options": ["a", "b", "c", "d", "e"], "settings": [{}, {}, {}, {}, {}], "metrics": {"quality": "max", "cost": "min"}, "exact": ["cost"], "budget": 70, "policy": "ege-sh", "policy_options": {"spend": "all"}, "scale": {"quality": 0.5}, "command": []}', 1794826812.4885101, 45, 45);
INSERT INTO paretopick_studies VALUES (4, 'done', '{"options": ["x", "y"], "settings": [{"level": 1}, {"level": 2}], "metrics": {"m": "max"}, "exact": [], "budget": 12, "policy": "uniform", "policy_options": {"spend": "all"}, "scale": "raw", "command": []}', 1794826812.9195323, 12, 13);
INSERT INTO paretopick_studies VALUES (1, 'rounds', '{"options": ["a", "b", "c", "d", "e"], "settings": [{}, {}, {}, {}, {}], "metrics": {"quality": "max", "cost": "min"}, "exact": ["cost"], "budget": 60, "policy": "ege-sr", "policy_options": {"spend": "all"}, "scale": "noise", "command": []}', 1794826812.2977343, 45, 45);
INSERT INTO paretopick_version VALUES ('0001');
SELECT pg_catalog.setval('paretopick_studies_id_seq', 4, true);
ALTER TABLE ONLY paretopick_checkpoints
    ADD CONSTRAINT paretopick_checkpoints_pkey PRIMARY KEY (study_id);
ALTER TABLE ONLY paretopick_events
    ADD CONSTRAINT paretopick_events_pkey PRIMARY KEY (study_id, "position");
ALTER TABLE ONLY paretopick_leases
    ADD CONSTRAINT paretopick_leases_pkey PRIMARY KEY (study_id, number);
ALTER TABLE ONLY paretopick_studies
    ADD CONSTRAINT paretopick_studies_name_key UNIQUE (name);
ALTER TABLE ONLY paretopick_studies
    ADD CONSTRAINT paretopick_studies_pkey PRIMARY KEY (id);
ALTER TABLE ONLY paretopick_version
    ADD CONSTRAINT paretopick_version_pkc PRIMARY KEY (version_num);
CREATE INDEX paretopick_events_number ON paretopick_events USING btree (study_id, number);
CREATE UNIQUE INDEX paretopick_told_once ON paretopick_events USING btree (study_id, number) WHERE ((kind)::text = 'told'::text);
ALTER TABLE ONLY paretopick_checkpoints
    ADD CONSTRAINT paretopick_checkpoints_study_id_fkey FOREIGN KEY (study_id) REFERENCES paretopick_studies(id) ON DELETE CASCADE;
ALTER TABLE ONLY paretopick_events
    ADD CONSTRAINT paretopick_events_study_id_fkey FOREIGN KEY (study_id) REFERENCES paretopick_studies(id) ON DELETE CASCADE;
ALTER TABLE ONLY paretopick_leases
    ADD CONSTRAINT paretopick_leases_study_id_fkey FOREIGN KEY (study_id) REFERENCES paretopick_studies(id) ON DELETE CASCADE;
